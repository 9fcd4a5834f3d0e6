import { spawnSync } from 'node:child_process'

export interface NpmEnded {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export function runNpm(args: readonly string[]): NpmEnded {
  // npm is a .cmd file on Windows, which only a shell can start.
  const shell = process.platform === 'win32'
  const { status, stdout, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', shell })
  if (error !== undefined) throw error
  return { status, stdout, stderr }
}
