// `npm run release:dry`: packs, checks and shows what `npm run release` would publish. Needs no credentials, sends
// nothing, and ends with 1 if a package is not sound. `-- --into DIR` keeps the tarballs there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packPackages } from './pack/pack-packages.ts'
import { publications } from './pack/public-packages.ts'
import { digestFault } from './release/image-digests.ts'
import { inspectPackages, releaseReport } from './release/inspect-release.ts'

const ROOT = dirname(import.meta.dirname)

const { values } = parseArgs({ options: { into: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'counterstep-release-'))
try {
  const into = values.into === undefined ? folder : resolve(values.into)
  const packed = packPackages(ROOT, publications(ROOT), into)
  const inspected = await inspectPackages(packed, ROOT)
  process.stdout.write(releaseReport(inspected))
  const fault = digestFault(ROOT)
  if (fault !== undefined) process.stderr.write(`a release would be refused: ${fault}\n`)
  if (inspected.some(({ faults }) => faults.length > 0)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
