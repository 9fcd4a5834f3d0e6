// `npm run release:version`: turns the changesets into the next version, the same for every workspace, and into the
// changelogs of the public packages. A person reads, commits and tags the changes.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publications } from './pack/public-packages.ts'
import { workspaceFolders } from './pack/workspace-folders.ts'
import { manifestIn } from './pack/workspace-manifest.ts'
import { runNpm } from './release/run-npm.ts'

const ROOT = dirname(import.meta.dirname)

function expectDone(args: readonly string[]): void {
  const { status, stdout, stderr } = runNpm(args)
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

/** No user installs these packages, so no user reads what changed in them. */
function removePrivateChangelogs(publicFolders: readonly string[]): void {
  for (const folder of workspaceFolders(ROOT).filter((each) => !publicFolders.includes(each)))
    rmSync(join(ROOT, folder, 'CHANGELOG.md'), { force: true })
}

function setRootVersion(version: string): void {
  const path = join(ROOT, 'package.json')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace(`"version": "${manifestIn(ROOT, '.').version}"`, `"version": "${version}"`),
  )
}

function setVersionInCode(version: string): void {
  const path = join(ROOT, 'packages/protocol/src/version.ts')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(/(export const VERSION = )'.*'/, `$1'${version}'`))
}

process.chdir(ROOT)
expectDone(['exec', '--offline', '--', 'changeset', 'version'])
const all = publications(ROOT)
const version = all[0]?.manifest.version ?? ''
removePrivateChangelogs(all.map(({ folder }) => folder))
setRootVersion(version)
setVersionInCode(version)
expectDone(['install', '--package-lock-only', '--ignore-scripts', '--prefer-offline'])
process.stdout.write(`${version}: read the changelogs, commit, tag v${version}, then npm run release:dry\n`)
