import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOutput } from '../run-command.ts'

export interface Buildah {
  /** Returns the output of the command, without its last line break. */
  run(...args: readonly string[]): Promise<string>
}

/** Buildah gets a storage folder of its own, so that images of the machine stay as they are. */
export function buildahIn(folder: string): Buildah {
  mkdirSync(folder, { recursive: true })
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  return {
    run: async (...args) => (await readOutput('buildah', [...storage, ...args])).trim(),
  }
}
