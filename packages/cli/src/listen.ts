import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { buildApp } from '@counterstep/server'

type App = ReturnType<typeof buildApp>

/**
 * Listens on an address, or on each address of `localhost`. For the second one fastify would make a server of its own,
 * which the bounds on connections do not know; here its connections go to the app's one server.
 */
export async function listen(app: App, host: string, port: number): Promise<void> {
  if (host !== 'localhost') {
    await app.listen({ host, port })
    return
  }
  const [first, ...others] = await lookup(host, { all: true })
  await app.listen({ host: first?.address ?? '127.0.0.1', port })
  const own = app.server.address() as AddressInfo
  for (const { address } of others) await listenAlso(app, address, own.port)
}

/** An address that cannot be listened on is left out, as fastify leaves it out. */
async function listenAlso(app: App, host: string, port: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.on('connection', (socket) => app.server.emit('connection', socket))
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    app.server.once('close', () => server.close())
  } catch {
    server.close()
  }
}
