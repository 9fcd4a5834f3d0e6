// `npm run release -- --yes`: publishes what `npm run release:dry` shows, each package after those that it needs.
// Needs npm's credentials, and a clean checkout of the tag, whose images have digests. Cut short, it may be run again: what is there is left out.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { packPackages } from './pack/pack-packages.ts'
import { publications } from './pack/public-packages.ts'
import { type Inspected, inspectPackages, releaseReport } from './release/inspect-release.ts'
import { publishTarball } from './release/publish-tarball.ts'
import { releaseFault } from './release/release-fault.ts'

const ROOT = dirname(import.meta.dirname)

async function release(isMeant: boolean, into: string): Promise<void> {
  const all = publications(ROOT)
  const version = all[0]?.manifest.version ?? ''
  if (!isMeant)
    throw new Error('this publishes for good; npm run release:dry shows what. If it is meant: -- --yes')
  const fault = releaseFault(ROOT, version)
  if (fault !== undefined) throw new Error(`${version} is not to be published: ${fault}`)
  const inspected = await inspectPackages(packPackages(ROOT, all, into), ROOT)
  process.stdout.write(releaseReport(inspected))
  refuseUnsound(inspected)
  for (const { packed } of inspected.filter(({ state }) => state === 'new')) {
    const refused = publishTarball(packed.tarball, packed.version, { isDry: false })
    if (refused !== undefined) throw new Error(`${packed.name} was not published: ${refused}`)
    process.stdout.write(`published ${packed.name} ${packed.version}\n`)
  }
}

function refuseUnsound(inspected: readonly Inspected[]): void {
  if (inspected.some(({ faults }) => faults.length > 0)) throw new Error('not all packages are sound')
  if (inspected.some(({ state }) => state === 'unknown')) throw new Error('the registry could not be asked')
}

const into = mkdtempSync(join(tmpdir(), 'counterstep-release-'))
try {
  await release(parseArgs({ options: { yes: { type: 'boolean', default: false } } }).values.yes, into)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  rmSync(into, { recursive: true, force: true })
}
