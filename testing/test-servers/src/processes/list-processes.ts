import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface ListedProcess {
  readonly pid: number
  readonly parent: number
  /** The first letter of its state: T is stopped, Z and X are dead. */
  readonly state: string
}

/** Lists the processes of this machine, or only the one with this pid if it exists. */
export type ListProcesses = (pid?: number) => readonly ListedProcess[]

/** Linux shows the processes in /proc, and a small Linux container has no `ps`. */
export const listProcesses: ListProcesses = process.platform === 'linux' ? listByProc : listByPs

export function listByProc(pid?: number): readonly ListedProcess[] {
  const pids = pid === undefined ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [pid]
  return pids.flatMap((each) => readStat(Number(each)))
}

export function listByPs(pid?: number): readonly ListedProcess[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' }).split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length === 3)
    .map(([own, parent, state = '']) => ({ pid: Number(own), parent: Number(parent), state }))
    .filter((each) => pid === undefined || each.pid === pid)
}

function readStat(pid: number): readonly ListedProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is a name in parentheses, which may contain anything.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), state }]
  } catch (error: unknown) {
    // The process has ended since it was listed.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) {
      return []
    }
    throw error
  }
}
