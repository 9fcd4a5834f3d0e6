import { readFileSync } from 'node:fs'

/** Reads the letter of a process's state, where T is stopped. Returns undefined when there is no such process. */
export function readProcessState(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
