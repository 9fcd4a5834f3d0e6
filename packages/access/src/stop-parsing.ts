import type { Socket } from 'node:net'
import type { Connection } from './connection.ts'

/** The parser asks to skip the body and to look at nothing behind the head, as behind one that asks for an upgrade. */
const LOOK_NO_FURTHER = 2

/** Node keeps its parser here. It calls `onIncoming` with each head that is whole, and follows what that returns. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: ((...head: unknown[]) => number) | null } | null
}

/**
 * Lets Node parse nothing more of a connection once it is refused. One read may bring 1,600 requests, and Node makes objects of all of them,
 * which takes 10 ms. It has no public way to stop there. If a version of it keeps the parser elsewhere, all are parsed as before.
 */
export function stopParsingOnceRefused(socket: Socket, connection: Connection): void {
  const { parser } = socket as Socket & ParsedSocket
  const onIncoming = parser?.onIncoming
  if (parser === undefined || parser === null || typeof onIncoming !== 'function') return
  parser.onIncoming = (...head) => (connection.isRefused ? LOOK_NO_FURTHER : onIncoming(...head))
}
