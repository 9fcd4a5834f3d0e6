import { readFileSync } from 'node:fs'
import { listTree } from './cpu-time.ts'

const BYTES_PER_KIB = 1_024

/**
 * Memory of a process and its children, where each page that several processes share counts in parts that add up to one (PSS);
 * undefined where the system does not tell it this way.
 */
export function readTreePssBytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  let bytes = 0
  for (const each of listTree(pid)) bytes += readPssBytes(each)
  return bytes
}

/** A process that has ended has none. */
function readPssBytes(pid: number): number {
  try {
    return parsePssBytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return 0
    throw error
  }
}

/** Reads the sum from the text of `smaps_rollup`. */
export function parsePssBytes(text: string): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN) * BYTES_PER_KIB
}
