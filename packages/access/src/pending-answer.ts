import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { LibraryChangedError } from '@counterstep/protocol'

// `node:http` is not imported, because an import would load the built-in fetch as well, which takes 40 ms of every
// start.
const http = process.getBuiltinModule('node:http')

/**
 * Reads the answer that a connection of Node's HTTP server waits for, or the first one if it waits for several. Returns
 * undefined if it waits for none. This relies on an undocumented part of node:http, read in Node 24.11: the server
 * keeps that answer as the socket's `_httpMessage`. No documented part shows whether a route of the user's own app is
 * just answering over a connection. Without this, such a connection could be ended as idle in the middle of an answer.
 */
export function readPendingAnswer(socket: Socket): ServerResponse | undefined {
  const answer = '_httpMessage' in socket ? socket._httpMessage : undefined
  return answer instanceof http.ServerResponse ? answer : undefined
}

/** Tests that Node keeps that answer there, when the bounds of connections are made. Throws a LibraryChangedError. */
export function assertPendingAnswerIsKept(makeAnswer = makeNodeAnswer): void {
  const socket = new Socket()
  const answer = makeAnswer(new http.IncomingMessage(socket))
  answer.assignSocket(socket)
  const pending = readPendingAnswer(socket)
  answer.detachSocket(socket)
  if (pending === answer && readPendingAnswer(socket) === undefined) return
  throw new LibraryChangedError({
    library: 'node',
    version: process.versions.node,
    part: '`_httpMessage` of the sockets of node:http, the answer that a connection waits for',
    readIn: '24.11',
  })
}

function makeNodeAnswer(request: IncomingMessage): ServerResponse {
  return new http.ServerResponse(request)
}
