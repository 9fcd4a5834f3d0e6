import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { UNACCEPTED_MAX } from '@counterstep/access'
import type { buildApp } from '@counterstep/server'

type App = ReturnType<typeof buildApp>

/**
 * Listens on an address, or on each address of `localhost`. Fastify would make a second server for the second address,
 * whose connections the bounds would not count. Here its connections go to the app's one server.
 *
 * Returns all servers that listen.
 */
export async function listen(app: App, host: string, port: number): Promise<readonly Server[]> {
  if (host !== 'localhost') {
    await app.listen({ host, port, backlog: UNACCEPTED_MAX })
    return [app.server]
  }
  const [first, ...others] = await lookup(host, { all: true })
  await app.listen({ host: first?.address ?? '127.0.0.1', port, backlog: UNACCEPTED_MAX })
  const own = app.server.address() as AddressInfo
  const further = await Promise.all(others.map(({ address }) => listenAlso(app, address, own.port)))
  return [app.server, ...further.filter((server) => server !== undefined)]
}

/** Listens on one more address. If that fails, the address is left out, as fastify does it. */
async function listenAlso(app: App, host: string, port: number): Promise<Server | undefined> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.on('connection', (socket) => app.server.emit('connection', socket))
  try {
    server.listen({ host, port, backlog: UNACCEPTED_MAX })
    await once(server, 'listening')
    app.server.once('close', () => server.close())
    return server
  } catch {
    server.close()
    return undefined
  }
}
