import type { Worker } from '../rounds.ts'
import type { StoreHost } from '../stores/store-host.ts'

/** The database's process as one that works for a row; none where there is no such process, or it is not ours alone. */
export function databaseWorker({ cpuSeconds, pssBytes = () => undefined }: StoreHost): readonly Worker[] {
  return cpuSeconds === undefined ? [] : [{ name: 'database', cpuSeconds, pssBytes }]
}
