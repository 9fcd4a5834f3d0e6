import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@counterstep/test-servers'

/** A command of a client to a MySQL server, in one packet. */
export interface Command {
  /** The protocol's number of the command: 3 is a query. */
  readonly code: number
  readonly text: string
}

export interface RecordingProxy {
  /** The same url with the proxy's address. */
  through(url: string): string
  readonly commands: readonly Command[]
  forget(): void
  close(): Promise<void>
}

const HEADER_BYTES = 4

/** Stands between a store and its server, and records every command. It reads only clear text. */
export async function startRecordingProxy(server: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(server)
  const listenPort = await freePort()
  const commands: Command[] = []
  const open = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
    const record = recorder((command) => commands.push(command))
    client.on('data', record)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      // A reset is passed on as a reset, since the proxy must not change how a connection ends.
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  listener.listen(listenPort, '127.0.0.1')
  await once(listener, 'listening')
  return {
    commands,
    through(url) {
      const changed = new URL(url)
      changed.hostname = '127.0.0.1'
      changed.port = String(listenPort)
      return changed.href
    },
    forget() {
      commands.length = 0
    },
    async close() {
      const closed = once(listener, 'close')
      listener.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** A command begins with packet 0. A client numbers the packets of its login from 1, so they are no commands. */
function recorder(onCommand: (command: Command) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0)
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + pending.readUIntLE(0, 3)
      if (pending.length < end) return
      if (pending[3] === 0) {
        onCommand({
          code: pending[HEADER_BYTES] ?? 0,
          text: pending.toString('utf8', HEADER_BYTES + 1, end),
        })
      }
      pending = pending.subarray(end)
    }
  }
}
