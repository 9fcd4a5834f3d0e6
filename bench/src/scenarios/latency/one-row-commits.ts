import { checkEqual } from '../../check-counts.ts'
import { toLatency } from '../../load/latency.ts'
import type { TimedLength } from '../../load/load-job.ts'
import type { Measurement, RowSource } from '../../rounds.ts'
import { readCommits } from '../../stores/commit-counter.ts'
import { toDatabaseUrl } from '../../stores/mysql-host.ts'
import type { OwnMysql } from '../../stores/open-own-mysql.ts'
import { SqlLink } from '../../stores/sql-link.ts'

const DATABASE = 'one_row_commits'

/** Measures what one flush of this database costs: inserts of one row, each committed by itself, on one connection. */
export class OneRowCommits implements RowSource {
  readonly name = 'one-row commit'
  readonly #mysql: OwnMysql
  readonly #link: SqlLink
  readonly #length: TimedLength
  #inserted = 0

  private constructor(mysql: OwnMysql, link: SqlLink, length: TimedLength) {
    this.#mysql = mysql
    this.#link = link
    this.#length = length
  }

  static async open(mysql: OwnMysql, length: TimedLength): Promise<OneRowCommits> {
    await mysql.link.run(`CREATE DATABASE ${DATABASE}`)
    await mysql.link.run(
      `CREATE TABLE ${DATABASE}.commits (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100) NOT NULL) ENGINE=InnoDB`,
    )
    return new OneRowCommits(mysql, await SqlLink.open(toDatabaseUrl(mysql.url, DATABASE)), length)
  }

  async measure(): Promise<Measurement> {
    const before = await readCommits(this.#mysql.link)
    const start = performance.now()
    const from = start + this.#length.warmUpSeconds * 1000
    const to = from + this.#length.seconds * 1000
    const durationsMs: number[] = []
    let answers = 0
    for (let now = start; now < to; ) {
      await this.#link.run('INSERT INTO commits (text) VALUES (?)', ['a row of a usual length'])
      const end = performance.now()
      answers += 1
      if (now >= from) durationsMs.push(end - now)
      now = end
    }
    this.#inserted += answers
    const commits = (await readCommits(this.#mysql.link)).commits - before.commits
    // A server that holds nothing may still look after its own rows.
    if (commits < answers) throw new Error(`${answers} inserts were only ${commits} commits`)
    return {
      answers,
      answersPerSecond: durationsMs.length / this.#length.seconds,
      latencyMs: toLatency(durationsMs),
      cpuSeconds: [],
      figures: {},
    }
  }

  async audit(): Promise<number> {
    const [row] = await this.#link.rows('SELECT COUNT(*) AS count FROM commits')
    checkEqual({ inserted: this.#inserted, stored: Number(row?.count) })
    return this.#inserted
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}
