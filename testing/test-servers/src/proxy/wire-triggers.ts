import { PostgresRequests } from './postgres-requests.ts'
import type { RequestTrigger } from './proxy-fault.ts'

/** These functions recognise one kind of request in the bytes of a client, so that a proxy can hit only that kind. */

const MYSQL_HEADER_BYTES = 4
const MYSQL_QUERY = 0x03
const COMMIT_AT_END = /(^|;)COMMIT$/i
/** These bytes are enough for that end. */
const END_BYTES = 7

/** Recognises a packet of a MySQL client that ends with a COMMIT, also one with the statements of its transaction. */
export function isMysqlCommit(chunk: Buffer): boolean {
  const begin = MYSQL_HEADER_BYTES + 1
  const end = chunk.toString('latin1', Math.max(begin, chunk.length - END_BYTES))
  return chunk[MYSQL_HEADER_BYTES] === MYSQL_QUERY && COMMIT_AT_END.test(end)
}

const SCRIPT_CALL = /^\*\d+\r\n\$\d+\r\n(evalsha|eval)\r\n/i
/** These bytes are enough for the words before a script's name. */
const SCRIPT_CALL_BYTES = 64

/** Recognises one or more commands of a Redis client if the first calls a script by its digest or by its text. */
export function isRedisScript(chunk: Buffer): boolean {
  return SCRIPT_CALL.test(chunk.toString('latin1', 0, SCRIPT_CALL_BYTES))
}

/** Recognises the head of an HTTP/1.1 POST to a path that begins so. */
export function isHttpPost(chunk: Buffer, path: string): boolean {
  const head = `POST ${path}`
  return chunk.toString('latin1', 0, head.length) === head
}

/**
 * Makes a trigger of a proxy before a PostgreSQL or a pooler. It fires when a client has sent all of a request that carries
 * out such a statement: a simple query, or an Execute with its Sync. `isWanted` gets the text of the statement, and for a
 * simple query all statements in it. A statement that got its name before the fault was set is not recognised. Several faults of one
 * proxy may share the trigger: the same bytes are read once.
 */
export function matchPostgres(isWanted: (sql: string) => boolean): RequestTrigger {
  const clients = new WeakMap<object, { requests: PostgresRequests; chunk: Buffer; isMatch: boolean }>()
  return (chunk, connection) => {
    const before = clients.get(connection)
    if (before?.chunk === chunk) return before.isMatch
    const requests = before?.requests ?? new PostgresRequests()
    const isMatch = requests.take(chunk).some(isWanted)
    clients.set(connection, { requests, chunk, isMatch })
    return isMatch
  }
}

/** Recognises statements that end with a COMMIT. */
export function isPostgresCommit(sql: string): boolean {
  return /(^|;)\s*COMMIT\s*;?\s*$/i.test(sql)
}

/** A statement begins at the start, behind another one or a comment, and within or behind a WITH. */
const WRITE = /(^|[;()]|\*\/)\s*(INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\b/i

/** Recognises statements of which at least one changes rows by itself. It does not know what a function does that is called. */
export function isPostgresWrite(sql: string): boolean {
  return WRITE.test(sql)
}
