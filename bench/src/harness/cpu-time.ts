import { readFileSync } from 'node:fs'

/** Linux counts in ticks of 10 ms for every process that asks through /proc. */
const TICKS_PER_SECOND = 100

/** CPU time of all threads of a process, in seconds; undefined where the system does not tell it this way. */
export function readCpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may hold spaces; utime and stime are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
