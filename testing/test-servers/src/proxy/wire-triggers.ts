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
