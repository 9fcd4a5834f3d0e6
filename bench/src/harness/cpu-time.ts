import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in ticks of 10 ms for every process that asks through /proc. */
const TICKS_PER_SECOND = 100

/** CPU time of all threads of a process, in seconds; undefined where the system does not tell it this way. */
export function readCpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  const { user, system } = readStat(pid)
  return (user + system) / TICKS_PER_SECOND
}

/** The same with the children of the process, from which a PostgreSQL answers, and with those that have ended. */
export function readTreeCpuSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  let ticks = 0
  for (const each of listPids()) {
    const stat = readStatIfAny(each)
    if (stat?.parent === pid) ticks += stat.user + stat.system
  }
  const { user, system, endedChildren } = readStat(pid)
  return (ticks + user + system + endedChildren) / TICKS_PER_SECOND
}

/** Lists a process and its children. */
export function listTree(pid: number): readonly number[] {
  return [pid, ...listPids().filter((each) => readStatIfAny(each)?.parent === pid)]
}

interface ProcessStat {
  readonly parent: number
  /** Ticks of all threads. */
  readonly user: number
  readonly system: number
  /** Ticks of the children whose end the process has noticed. */
  readonly endedChildren: number
}

function listPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** Returns nothing for a process that has ended since it was listed. */
function readStatIfAny(pid: number): ProcessStat | undefined {
  try {
    return readStat(pid)
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

function readStat(pid: number): ProcessStat {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is a name in parentheses, which may hold spaces. What follows begins with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return { parent: field(4), user: field(14), system: field(15), endedChildren: field(16) + field(17) }
}
