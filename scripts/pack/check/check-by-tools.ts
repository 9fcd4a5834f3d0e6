import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** What publint and "are the types wrong" say of a tarball, if anything. */
export function checkByTools(tarball: string, root: string): string[] {
  const tool = (path: string) => join(root, 'node_modules', path)
  return [
    ...complaint('publint', [tool('publint/src/cli.js'), '--strict', tarball]),
    ...complaint('attw', [
      tool('@arethetypeswrong/cli/dist/index.js'),
      ...[tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji'],
    ]),
  ]
}

function complaint(name: string, args: readonly string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (error !== undefined) throw error
  return status === 0 ? [] : [`${name}: ${`${stdout}${stderr}`.trim()}`]
}
