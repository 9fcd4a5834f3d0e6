import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { UNACCEPTED_MAX } from '@counterstep/access'

/** Listens on an address, or on each address of `localhost`. Rejects if the first one cannot be had. */
export async function listen(
  host: string,
  port: number,
  onConnection: (socket: Socket) => void,
): Promise<readonly Server[]> {
  const [first = host, ...others] =
    host === 'localhost' ? (await lookup(host, { all: true })).map(({ address }) => address) : [host]
  const own = await listenOn(first, port, onConnection)
  const ownPort = (own.address() as AddressInfo).port
  const further = await Promise.allSettled(others.map((each) => listenOn(each, ownPort, onConnection)))
  return [own, ...further.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))]
}

async function listenOn(host: string, port: number, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, onConnection)
  server.listen({ host, port, backlog: UNACCEPTED_MAX })
  await once(server, 'listening')
  return server
}
