import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK_DEVICES = '/sys/block'
/** The place of the flushes among the numbers of a `stat`, as the kernel's documents name them. It has them since Linux 5.5. */
const FLUSHES_AT = 15

/** Counts the flushes of all disks since the start of the system; undefined where the system does not tell. */
export function readFlushes(folder: string = BLOCK_DEVICES): number | undefined {
  if (!existsSync(folder)) return undefined
  const disks = readdirSync(folder)
    // Only a disk has a device. What lies on one or on a file has none, and would count twice.
    .filter((name) => existsSync(join(folder, name, 'device')))
    .map((name) => readFileSync(join(folder, name, 'stat'), 'utf8'))
  return sumFlushes(disks)
}

/** Sums what the `stat` of each disk tells; undefined if one does not tell, or if there is none. */
export function sumFlushes(stats: readonly string[]): number | undefined {
  const counts = stats.map((stat) => Number(stat.trim().split(/\s+/)[FLUSHES_AT] ?? Number.NaN))
  if (counts.length === 0 || counts.some(Number.isNaN)) return undefined
  return counts.reduce((sum, count) => sum + count, 0)
}
