import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { findCacheFolder } from './cache-folder.ts'
import { readOutput } from './run-command.ts'

/**
 * Builds a program in Go, with the versions that `go.sum` of the folder locks, unless it is there. Returns its path. It may take
 * minutes the first time on a machine.
 */
export async function buildGoTool(name: string, sources: string, packagePath: string): Promise<string> {
  const locked = ['go.mod', 'go.sum', 'main.go'].filter((file) => existsSync(join(sources, file)))
  const hash = createHash('sha256')
  for (const file of locked) hash.update(readFileSync(join(sources, file)))
  const kept = findCacheFolder(name)
  const program = join(kept, hash.digest('hex').slice(0, 12))
  if (existsSync(program)) return program
  mkdirSync(kept, { recursive: true })
  const made = `${program}.${process.pid}`
  await readOutput('go', ['build', '-mod=readonly', '-o', made, packagePath], { cwd: sources })
  // Another run may have built it meanwhile, and it is the same.
  renameSync(made, program)
  return program
}
