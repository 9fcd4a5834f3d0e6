import type { SqlLink } from './sql-link.ts'

/** Counters of what a database has done since it started. */
export interface CommitCounts {
  /** Database transactions that wrote something. */
  readonly commits: number
  /** Writes of its binary log to the disk: what is flushed together counts once. Undefined where it does not tell. */
  readonly groups: number | undefined
  /** Flushes of InnoDB's files, without the binary log. Undefined where it does not tell. */
  readonly fsyncs: number | undefined
}

const COUNTERS = ['Binlog_commits', 'Binlog_group_commits', 'Innodb_data_fsyncs'] as const

export async function readCommits(link: SqlLink): Promise<CommitCounts> {
  const status = await link.globals('STATUS', COUNTERS)
  const { Binlog_commits: commits, Binlog_group_commits: groups, Innodb_data_fsyncs: fsyncs } = status
  return {
    commits: commits === undefined ? await gtidCount(link) : Number(commits),
    groups: groups === undefined ? undefined : Number(groups),
    fsyncs: fsyncs === undefined ? undefined : Number(fsyncs),
  }
}

/** MySQL counts no commits; each has a number in its set of executed ones. */
async function gtidCount(link: SqlLink): Promise<number> {
  const [row] = await link.rows('SELECT @@global.gtid_executed AS executed, @@global.gtid_mode AS mode')
  if (row?.mode !== 'ON') throw new Error('this MySQL counts commits with gtid_mode=ON only')
  return countOfGtids(String(row.executed))
}

/** Counts the transactions of a set like `UUID:1-5:7, UUID:tag:1-3`. */
export function countOfGtids(set: string): number {
  const ranges = set.matchAll(/:(\d+)(?:-(\d+))?(?=[:,\s]|$)/g)
  let count = 0
  for (const [, from, to = from] of ranges) count += Number(to) - Number(from) + 1
  return count
}
