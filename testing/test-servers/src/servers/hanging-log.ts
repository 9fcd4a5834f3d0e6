import { startMariadb } from './mariadb.ts'
import { startMysql } from './mysql.ts'
import type { SqlServer } from './sql-server.ts'

/** Nothing flushes the log in the background, and no binary log keeps a row from being seen before it is on the disk. */
const UNLOGGED = ['--skip-log-bin', '--innodb-flush-log-at-timeout=2700']
const START = {
  mariadb: () => startMariadb({ settings: UNLOGGED }),
  mysql: () => startMysql({ settings: [...UNLOGGED, '--gtid-mode=OFF', '--enforce-gtid-consistency=OFF'] }),
} as const

/** Starts a server whose log can be made to hang. */
export function startWithHangingLog(kind: 'mariadb' | 'mysql'): Promise<SqlServer> {
  return START[kind]()
}

/** Runs one statement as root, and returns the cells of its first row. */
export type ReadFirstRow = (sql: string) => Promise<readonly unknown[]>

/** The log of such a server. */
export class HangingLog {
  readonly #read: ReadFirstRow

  constructor(read: ReadFirstRow) {
    this.#read = read
  }

  /** Acts like a disk that hangs: every transaction sees the write, but the log that holds it is not on the disk. */
  async leaveUnflushed(write: () => Promise<unknown>): Promise<void> {
    await this.#read('SET GLOBAL innodb_flush_log_at_trx_commit = 0')
    await write()
    await this.#read('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
  }

  /** Reads the engine's status, because MySQL's status variables are seconds old. */
  async readEnds(): Promise<{ readonly written: number; readonly flushed: number }> {
    const [, , status] = await this.#read('SHOW ENGINE INNODB STATUS')
    const [, written, flushed] =
      /^Log sequence number +(\d+)$.*^Log flushed up to +(\d+)$/ms.exec(String(status)) ?? []
    return { written: Number(written), flushed: Number(flushed) }
  }
}
