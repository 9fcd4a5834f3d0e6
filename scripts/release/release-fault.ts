import { spawnSync } from 'node:child_process'
import { digestFault } from './image-digests.ts'

/** Why this checkout is not to be released, if so. */
export function releaseFault(root: string, version: string): string | undefined {
  return tagFault(root, version) ?? digestFault(root)
}

/** Why the working tree is not exactly what the tag of this version names, if so. */
function tagFault(root: string, version: string): string | undefined {
  const tag = `v${version}`
  if (runGit(root, ['status', '--porcelain']).trim() !== '') return 'there are changes that are not committed'
  const tags = runGit(root, ['tag', '--points-at', 'HEAD']).split('\n')
  return tags.includes(tag) ? undefined : `the commit is not tagged ${tag}`
}

function runGit(root: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed:\n${stderr}`)
  return stdout
}
