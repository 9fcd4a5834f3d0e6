import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ListenOptions, type Server } from 'node:net'

/** Below the ports that systems give to outgoing connections, so that a server finds its port free after a restart. */
const FIRST_PORT = 20_000
const LAST_PORT = 29_999
const TRIES_MAX = 200

const given = new Set<number>()

/** A port of 127.0.0.1 that is free now, and that no process which asks here is given while this one lives. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    if (given.has(port) || !(await reserve(port)) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} in ${TRIES_MAX} tries`)
}

/** Two processes could find the same port free before either uses it. Where sockets may have names, one of them tells. */
async function reserve(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const mark = await tryToListen({ path: `\0counterstep-port-${port}` })
  mark?.unref()
  return mark !== undefined
}

async function isFree(port: number): Promise<boolean> {
  const server = await tryToListen({ host: '127.0.0.1', port, exclusive: true })
  if (server === undefined) return false
  const closed = once(server, 'close')
  server.close()
  await closed
  return true
}

async function tryToListen(options: ListenOptions): Promise<Server | undefined> {
  const server = createServer()
  const outcome = new Promise<Server | undefined>((resolve, reject) => {
    server.once('listening', () => resolve(server))
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
    )
  })
  server.listen(options)
  return await outcome
}
