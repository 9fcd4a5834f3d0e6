import { AssertionError, type DurabilityClass, type Store } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import type { Row } from '@counterstep/store-sql'

/** A server's own settings, as read-server.sql reads them. */
export interface ServerFacts {
  readonly version: number
  readonly fsync: string
  readonly fullPageWrites: string
  readonly dataSyncRetry: string
  readonly synchronousCommit: string
  readonly synchronousStandbyNames: string
  readonly serverEncoding: string
  readonly clientEncoding: string
  readonly isolation: string
  /** The server sends no notices that are less severe. */
  readonly messagesMin: string
  readonly readOnly: string
  /** The same text for the same server, also after its restart. */
  readonly identity: string
}

export interface Durability {
  readonly class: DurabilityClass
  /** The setting that decided the class. */
  readonly because: string
}

/** It counts like `server_version_num`. */
const VERSION_MIN = 130_000
const VERSIONS_PER_MAJOR = 10_000

export function readServerFacts(row: Row | undefined): ServerFacts {
  if (row === undefined) throw new AssertionError('the server has told nothing of itself')
  const [version, fsync, fullPageWrites, dataSyncRetry, synchronousCommit, synchronousStandbyNames, ...more] =
    row
  const [serverEncoding, clientEncoding, isolation, messagesMin, readOnly, identity] = more
  return {
    version: Number(version),
    fsync: String(fsync),
    fullPageWrites: String(fullPageWrites),
    dataSyncRetry: String(dataSyncRetry),
    synchronousCommit: String(synchronousCommit),
    synchronousStandbyNames: String(synchronousStandbyNames),
    serverEncoding: String(serverEncoding),
    clientEncoding: String(clientEncoding),
    isolation: String(isolation),
    messagesMin: String(messagesMin),
    readOnly: String(readOnly),
    identity: String(identity),
  }
}

export function refuseUnsupported({ version, serverEncoding }: ServerFacts): void {
  if (version < VERSION_MIN) {
    const major = Math.floor(version / VERSIONS_PER_MAJOR)
    throw unsupportedError(`the server is PostgreSQL ${major}; PostgreSQL 13 is the oldest that will do`)
  }
  if (serverEncoding !== 'UTF8') {
    throw unsupportedError(
      `the database has the encoding ${serverEncoding}; CREATE DATABASE … ENCODING 'UTF8'`,
    )
  }
}

export function unsupportedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}

/**
 * Reads the class from `fsync` and `full_page_writes`, without which a crash may damage the database, from `data_sync_retry`, with which the server
 * goes on after a flush that has failed, and from `synchronous_commit`, of which every value but `off` waits for this server's own disk.
 */
export function readDurability(server: ServerFacts, unloggedTables: readonly string[] = []): Durability {
  const [unlogged] = unloggedTables
  if (unlogged !== undefined)
    return { class: 'C', because: `${unlogged} is UNLOGGED: ALTER TABLE ${unlogged} SET LOGGED` }
  if (server.fsync !== 'on') return { class: 'C', because: `fsync=${server.fsync}` }
  if (server.fullPageWrites !== 'on')
    return { class: 'C', because: `full_page_writes=${server.fullPageWrites}` }
  if (server.dataSyncRetry !== 'off')
    return { class: 'C', because: `data_sync_retry=${server.dataSyncRetry}` }
  const because = `synchronous_commit=${server.synchronousCommit}`
  // A commit that waits for nothing is in the memory of the server alone, which drops it when one of its processes crashes.
  return { class: server.synchronousCommit === 'off' ? 'C' : 'A', because }
}

/** A COMMIT that waits for the disk of a standby is lost by no failover to that standby. The store cannot see any other replica. */
export function readFailover(server: ServerFacts): Store['failover'] {
  const waits = server.synchronousCommit === 'on' || server.synchronousCommit === 'remote_apply'
  return waits && server.synchronousStandbyNames !== '' ? 'lossless' : 'lossy'
}
