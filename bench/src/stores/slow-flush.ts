import type { SqlLink } from './sql-link.ts'

/** So many commits at once never come, so that each group waits for all of the time. */
const GROUP_NEVER_FULL = 100_000

/** Makes each flush of the binary log take at least so long; 0 takes that back. */
export async function slowFlushes(link: SqlLink, delayUs: number): Promise<void> {
  const maria = await link.globals('VARIABLES', ['binlog_commit_wait_usec'])
  if (Object.keys(maria).length > 0) {
    await link.run(`SET GLOBAL binlog_commit_wait_count = ${delayUs === 0 ? 0 : GROUP_NEVER_FULL}`)
    await link.run(`SET GLOBAL binlog_commit_wait_usec = ${delayUs}`)
  } else {
    await link.run(`SET GLOBAL binlog_group_commit_sync_delay = ${delayUs}`)
  }
}
