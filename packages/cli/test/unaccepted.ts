import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** The system writes the state of a socket that listens so. */
const LISTENS = '0A'

/**
 * Opens this many connections to a port of 127.0.0.1 whose server is stopped, and returns how many of them wait to be accepted. The
 * system has dropped the others. It works on Linux alone.
 */
export async function countUnaccepted(port: number, connections: number): Promise<number> {
  const sockets: Socket[] = []
  for (let n = 0; n < connections; n++) {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => undefined)
    sockets.push(socket)
  }
  // Node connects in the ticks of this turn of its event loop, and the system needs no other process for it.
  await new Promise((resolve) => process.nextTick(resolve))
  const waiting = readAcceptQueue(port)
  for (const socket of sockets) socket.destroy()
  return waiting
}

function readAcceptQueue(port: number): number {
  const own = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local, , state, queues] = line.trim().split(/\s+/)
    if (state === LISTENS && local?.endsWith(own)) return Number.parseInt(queues?.split(':')[1] ?? '', 16)
  }
  throw new Error(`nothing listens on port ${port}`)
}
