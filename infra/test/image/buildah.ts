import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOutput } from '../run-command.ts'

export interface Buildah {
  /** Returns the output of the command, without its last line break. */
  run(...args: readonly string[]): Promise<string>
}

/** Returns a Buildah with its own storage folder, so that the machine's images stay as they are. */
export function openBuildah(folder: string): Buildah {
  mkdirSync(folder, { recursive: true })
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  return {
    run: async (...args) => (await readOutput('buildah', [...storage, ...args])).trim(),
  }
}
