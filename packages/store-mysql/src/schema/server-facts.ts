import type { DurabilityClass } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import type { Row } from '@counterstep/store-sql'

/** A server's own settings, by the names of its variables. */
export type Variables = ReadonlyMap<string, string>

export interface Durability {
  readonly class: DurabilityClass
  /** The setting that decided the class. */
  readonly because: string
}

const MYSQL_MIN = [8, 0]
const MARIADB_MIN = [10, 6]
/** Class B promises to lose no more than this. */
const LATE_FLUSH_SECONDS_MAX = 2
/** InnoDB may not start again after a crash with these values. */
const CRIPPLED: readonly (readonly [name: string, values: readonly string[]])[] = [
  // MySQL has this state until the redo log is enabled again.
  ['Innodb_redo_log_enabled', ['OFF']],
  // They are for tests: a flush of the data, or of the log as well, does nothing.
  ['innodb_flush_method', ['nosync', 'littlesync']],
]

export function toVariables(rows: readonly Row[]): Variables {
  return new Map(rows.map(([name, value]) => [String(name), String(value)]))
}

/** Returns the same text for the same server, also after its restart. */
export function toServerIdentity(variables: Variables): string {
  const unique = variables.get('server_uuid') ?? variables.get('server_uid') ?? ''
  return `${variables.get('hostname')} ${variables.get('server_id')} ${unique}`.trim()
}

export function refuseUnsupported(variables: Variables): void {
  const version = variables.get('version') ?? ''
  const isMariadb = /mariadb/i.test(`${version} ${variables.get('version_comment')}`)
  const [major = 0, minor = 0] = isMariadb ? MARIADB_MIN : MYSQL_MIN
  const [, has = '0', hasMinor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (Number(has) < major || (Number(has) === major && Number(hasMinor) < minor)) {
    const product = isMariadb ? 'MariaDB' : 'MySQL'
    throw unsupportedError(
      `the server is ${product} ${version}; ${product} ${major}.${minor} is the oldest that will do`,
    )
  }
  // Its SKIP LOCKED locks no row, so two nodes could claim one transaction: https://github.com/pingcap/tidb/issues/69720
  if (/tidb/i.test(version))
    throw unsupportedError(`the server is TiDB (${version}), whose SKIP LOCKED locks nothing`)
  if (variables.get('log_bin') === 'ON' && variables.get('binlog_format') === 'STATEMENT') {
    throw unsupportedError(
      'binlog_format is STATEMENT, under which no one may write at READ COMMITTED; set ROW or MIXED',
    )
  }
}

export function unsupportedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}

/**
 * Reads the class from the settings that let InnoDB recover at all, from `innodb_flush_log_at_trx_commit`, and from
 * `sync_binlog` if the binary log decides what survives a crash.
 */
export function readDurability(variables: Variables): Durability {
  const setting = (name: string) => `${name}=${variables.get(name) ?? ''}`
  const crippled = CRIPPLED.find(([name, values]) => values.includes(variables.get(name) ?? ''))
  if (crippled !== undefined) return { class: 'C', because: setting(crippled[0]) }
  const because = setting('innodb_flush_log_at_trx_commit')
  const flush = variables.get('innodb_flush_log_at_trx_commit')
  if (flush === '2') return toLateFlush(because, variables)
  // 3 is MariaDB's: like 1, with one more flush.
  if (flush !== '1' && flush !== '3') return { class: 'C', because }
  if (variables.get('log_bin') === 'ON' && variables.get('sync_binlog') !== '1') {
    return toLateFlush(setting('sync_binlog'), variables)
  }
  return { class: 'A', because }
}

/** The background flush brings to the disk what a commit has left to it. */
function toLateFlush(because: string, variables: Variables): Durability {
  const seconds = Number.parseInt(variables.get('innodb_flush_log_at_timeout') ?? '', 10)
  if (seconds <= LATE_FLUSH_SECONDS_MAX) return { class: 'B', because }
  return { class: 'C', because: `${because} with innodb_flush_log_at_timeout=${seconds}` }
}
