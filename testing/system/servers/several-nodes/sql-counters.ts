import type { SqlServer } from '@counterstep/test-servers'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'

/** MariaDB has dropped InnoDB's own; MySQL counts temporary tables among the handler's. */
const ROW_COUNTERS = {
  mariadb: ['Handler_write', 'Handler_update', 'Handler_delete'],
  mysql: ['Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted'],
} as const

/** Counters of a whole server, so no other program may use it. */
export class SqlCounters {
  readonly #connection: Connection
  readonly #flavor: SqlServer['flavor']

  private constructor(connection: Connection, flavor: SqlServer['flavor']) {
    this.#connection = connection
    this.#flavor = flavor
  }

  static async open({ url, flavor }: SqlServer): Promise<SqlCounters> {
    return new SqlCounters(await createConnection(url), flavor)
  }

  async set(assignment: string): Promise<void> {
    await this.#connection.query(`SET GLOBAL ${assignment}`)
  }

  /** MariaDB counts the database transactions that were written to the binary log. */
  async binlogCommits(): Promise<number> {
    return this.#status('Binlog_commits')
  }

  /** MySQL gives each database transaction a number of its own, kept as intervals. */
  async gtids(): Promise<number> {
    const [rows] = await this.#connection.query<RowDataPacket[]>('SELECT @@global.gtid_executed AS executed')
    const executed = String(rows[0]?.executed ?? '')
    return [...executed.matchAll(/:(\d+)(?:-(\d+))?/g)].reduce(
      (sum, [, from, to = from]) => sum + Number(to) - Number(from) + 1,
      0,
    )
  }

  /**
   * Counts the rows written by the statements of all clients; rows that only the server writes for itself count
   * elsewhere.
   */
  async rowsWritten(): Promise<number> {
    const counts = await Promise.all(ROW_COUNTERS[this.#flavor].map((name) => this.#status(name)))
    return counts.reduce((sum, count) => sum + count)
  }

  async close(): Promise<void> {
    await this.#connection.end()
  }

  async #status(name: string): Promise<number> {
    const [rows] = await this.#connection.query<RowDataPacket[]>('SHOW GLOBAL STATUS LIKE ?', [name])
    if (rows[0] === undefined) throw new Error(`the server has no counter ${name}`)
    return Number(rows[0].Value)
  }
}
