import { RAW_STATEMENT } from '../lease.ts'

/**
 * The barrier reads these parts of mysql2 beyond its documentation; they were read in 3.24.5. The connection is the
 * user's, so the barrier works without a part that is missing: nothing is done wrongly, but the session of a call that
 * is late is left to the server. `checkBarrier` names what is missing.
 */
interface RawConnection {
  readonly threadId?: unknown
  /**
   * The socket. mysql2's own `destroy` only says that it will send no more, which a server that has stopped does not
   * hear.
   */
  readonly stream?: unknown
  readonly config?: { readonly connectAttributes?: { readonly _client_version?: unknown } }
  readonly promise?: unknown
}

/** This is the socket of a connection. */
export interface DriverSocket {
  readonly localPort?: number
  destroy(): unknown
}

/** It is undefined for an object that is no connection of mysql2, but only behaves like one. */
export function readSocket(connection: object): DriverSocket | undefined {
  const { stream } = readRaw(connection)
  return isSocket(stream) ? stream : undefined
}

/** This is the id of the connection's session at the server. */
export function readThreadId(connection: object): number | undefined {
  const { threadId } = readRaw(connection)
  return typeof threadId === 'number' ? threadId : undefined
}

/** The self-test of `checkBarrier`: names each part that a connection of mysql2 no longer has. */
export async function findDriverFaults(connection: object): Promise<readonly string[]> {
  const raw = readRaw(connection)
  // Only mysql2's callback API has a way back to promises.
  if (typeof raw.promise !== 'function') return []
  const parts: string[] = []
  if (readSocket(connection) === undefined) parts.push('`stream`, the socket of a connection')
  if (readThreadId(connection) === undefined) parts.push('`threadId`, the session of a connection')
  if (!(await holdsRawStatement(connection))) parts.push('`statement`, the raw one of a prepared statement')
  const version = raw.config?.connectAttributes?._client_version ?? '(of unknown version)'
  return parts.map((part) => `mysql2 ${version} has changed ${part}: install mysql2 3.24.5`)
}

async function holdsRawStatement(connection: object): Promise<boolean> {
  if (!('prepare' in connection) || typeof connection.prepare !== 'function') return true
  const statement = await connection.prepare('DO 0')
  const isThere = RAW_STATEMENT in statement
  await statement.close()
  return isThere
}

/** A promise connection of mysql2 holds the one that has the socket. */
function readRaw(connection: { readonly connection?: unknown }): RawConnection {
  const { connection: raw = connection } = connection
  return typeof raw === 'object' && raw !== null ? raw : {}
}

function isSocket(value: unknown): value is DriverSocket {
  return (
    typeof value === 'object' && value !== null && 'destroy' in value && typeof value.destroy === 'function'
  )
}
