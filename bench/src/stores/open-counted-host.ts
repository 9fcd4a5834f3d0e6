import type { Harness } from '../harness/harness.ts'
import { type CommitCounts, readCommits } from './commit-counter.ts'
import { openOwnMysql } from './open-own-mysql.ts'
import { openOwnPostgresHost } from './open-own-postgres-host.ts'
import { readRows } from './postgres-rows.ts'
import { slowFlushes } from './slow-flush.ts'
import type { StoreHost } from './store-host.ts'
import type { StoreName } from './store-names.ts'

/** A private SQL server whose commits are counted, and whose flushes can be slowed. */
export interface CountedHost {
  readonly host: StoreHost
  readCommits(): Promise<CommitCounts>
  /** Makes each flush of the log take at least so long; 0 takes that back. */
  slowFlushes(delayUs: number): Promise<void>
}

export async function openCountedHost(harness: Harness, store: StoreName): Promise<CountedHost> {
  if (store === 'postgres') return await openCountedPostgres(harness)
  const { host, link } = await openOwnMysql(harness, store)
  return {
    host,
    readCommits: () => readCommits(link),
    slowFlushes: (delayUs) => slowFlushes(link, delayUs),
  }
}

/**
 * A database transaction takes a number when it first writes, and so the numbers count those that wrote. `pg_stat_database` also
 * counts those that only read, and it gets its counts from an idle connection up to ten seconds late.
 */
const WRITTEN = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next'

async function openCountedPostgres(harness: Harness): Promise<CountedHost> {
  const { host, url } = await openOwnPostgresHost(harness)
  return {
    host,
    async readCommits() {
      const [row] = await readRows(url, WRITTEN)
      return { commits: Number(row?.next), groups: undefined, fsyncs: undefined }
    },
    async slowFlushes(delayUs) {
      // A commit would otherwise wait only while so many other transactions are open.
      await readRows(url, 'ALTER SYSTEM SET commit_siblings = 0')
      await readRows(url, `ALTER SYSTEM SET commit_delay = ${delayUs}`)
      await readRows(url, 'SELECT pg_reload_conf()')
    },
  }
}
