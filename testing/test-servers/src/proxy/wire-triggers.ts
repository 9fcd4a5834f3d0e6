/** What a proxy can recognise in the bytes of a client, to hit one kind of request and no other. */

const MYSQL_HEADER_BYTES = 4
const MYSQL_QUERY = 0x03
const COMMIT_AT_END = /(^|;)COMMIT$/i
/** Enough for that end. */
const END_BYTES = 7

/** A packet of a MySQL client that ends with a COMMIT, which may stand behind its transaction's statements. */
export function isMysqlCommit(chunk: Buffer): boolean {
  const begin = MYSQL_HEADER_BYTES + 1
  const end = chunk.toString('latin1', Math.max(begin, chunk.length - END_BYTES))
  return chunk[MYSQL_HEADER_BYTES] === MYSQL_QUERY && COMMIT_AT_END.test(end)
}

const SCRIPT_CALL = /^\*\d+\r\n\$\d+\r\n(evalsha|eval)\r\n/i
/** Enough for the words before a script's name. */
const SCRIPT_CALL_BYTES = 64

/** One or more commands of a Redis client, of which the first calls a script by its digest or by its text. */
export function isRedisScript(chunk: Buffer): boolean {
  return SCRIPT_CALL.test(chunk.toString('latin1', 0, SCRIPT_CALL_BYTES))
}

/** The head of an HTTP/1.1 POST, to a path that begins so. */
export function isHttpPost(chunk: Buffer, path: string): boolean {
  const head = `POST ${path}`
  return chunk.toString('latin1', 0, head.length) === head
}
