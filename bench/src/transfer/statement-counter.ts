import { type CommitCounts, readCommits } from '../stores/commit-counter.ts'
import type { SqlLink } from '../stores/sql-link.ts'

/** Counters of what a database has done since it started, as it counts itself. */
export interface DatabaseCounts extends CommitCounts {
  /** Everything that clients asked, with START TRANSACTION and COMMIT; each execution of a prepared statement counts. */
  readonly questions: number
}

/** Two questions themselves on MariaDB: the counters are read twice. */
export async function readDatabase(link: SqlLink): Promise<DatabaseCounts> {
  const { Questions: questions } = await link.globals('STATUS', ['Questions'])
  if (questions === undefined) throw new Error('this database does not count its statements')
  return { ...(await readCommits(link)), questions: Number(questions) }
}
