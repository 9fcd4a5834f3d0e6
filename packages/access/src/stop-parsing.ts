import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Connection } from './connection.ts'

/** The parser asks to skip the body and to look at nothing behind the head, as behind one that asks for an upgrade. */
const LOOK_NO_FURTHER = 2

/** Node keeps its parser here. It calls `onIncoming` with each head that is whole, and follows what that returns. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: ((head: IncomingMessage, keepsAlive: boolean) => number) | null } | null
}

/**
 * Lets Node parse nothing more of a connection once it is refused. One read may bring 1,600 requests, and Node makes objects of all of them,
 * which takes 10 ms. It has no documented way to stop there. This relies on an undocumented part of node:http, read in Node 24.21: the socket's
 * `parser.onIncoming`. Where that is not there, all of them are parsed and then ignored.
 */
export function stopParsingOnceRefused(socket: Socket, connection: Connection): void {
  const { parser } = socket as Socket & ParsedSocket
  const onIncoming = parser?.onIncoming
  if (parser === undefined || parser === null || typeof onIncoming !== 'function') return
  parser.onIncoming = (head, keepsAlive) =>
    connection.isRefused ? LOOK_NO_FURTHER : onIncoming(head, keepsAlive)
}
