import type { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

/** Receivers of OTLP answer with a few bytes, and the exporter would keep each chunk of up to 4 MiB. */
export const ANSWER_BYTES_MAX = 64 * 1024

/**
 * Makes the connections on which spans and metrics are sent. One is ended when a single answer has more than ANSWER_BYTES_MAX bytes with
 * its head and the lengths of its chunks: a receiver that answers in chunks of one byte would take the memory and the time of the
 * server. `protocol` is that of the receiver's URL.
 */
export function createBoundedAgent(protocol: string): Agent {
  // An import would load the built-in fetch with it.
  const { Agent: PlainAgent } = process.getBuiltinModule('node:http')
  const { Agent: TlsAgent } = process.getBuiltinModule('node:https')
  // A receiver could choose numbers for DHE that take a second of the event loop, before its certificate is judged.
  const ciphers = `${process.getBuiltinModule('node:tls').DEFAULT_CIPHERS}:!DHE`
  const agent =
    protocol === 'https:' ? new TlsAgent({ keepAlive: true, ciphers }) : new PlainAgent({ keepAlive: true })
  const received = new WeakMap<Duplex, number>()
  const { createConnection, reuseSocket } = agent
  agent.createConnection = (options, callback) => {
    const socket = createConnection.call(agent, options, callback)
    socket?.on('data', ({ length }: Buffer) => {
      const bytes = (received.get(socket) ?? 0) + length
      received.set(socket, bytes)
      if (bytes > ANSWER_BYTES_MAX)
        socket.destroy(new Error(`the receiver's answer is over ${ANSWER_BYTES_MAX} bytes`))
    })
    return socket
  }
  agent.reuseSocket = (socket, request) => {
    received.delete(socket)
    reuseSocket.call(agent, socket, request)
  }
  return agent
}
