import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'

/** One connection to a MySQL or MariaDB, for what is asked and done around a measurement. */
export class SqlLink {
  readonly #connection: Connection

  private constructor(connection: Connection) {
    this.#connection = connection
  }

  static async open(url: string): Promise<SqlLink> {
    return new SqlLink(await createConnection(url))
  }

  async run(sql: string, values: readonly (string | number)[] = []): Promise<void> {
    await this.#connection.query(sql, [...values])
  }

  async rows(sql: string, values: readonly (string | number)[] = []): Promise<readonly RowDataPacket[]> {
    const [rows] = await this.#connection.query<RowDataPacket[]>(sql, [...values])
    return rows
  }

  /** Reads the server's variables or counters: those of these names that it has. */
  async globals(
    kind: 'VARIABLES' | 'STATUS',
    names: readonly string[],
  ): Promise<Readonly<Record<string, string>>> {
    const places = names.map(() => '?').join(', ')
    const rows = await this.rows(`SHOW GLOBAL ${kind} WHERE Variable_name IN (${places})`, names)
    return Object.fromEntries(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]))
  }

  close(): Promise<void> {
    return this.#connection.end()
  }
}
