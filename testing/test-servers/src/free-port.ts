import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ListenOptions, type Server } from 'node:net'

/** These ports are below those of outgoing connections, so that a server finds its port free after a restart. */
const FIRST_PORT = 20_000
const LAST_PORT = 29_999
const TRIES_MAX = 200

const given = new Set<number>()

/** Finds a free port of 127.0.0.1. No other process gets it from this function while this process lives. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    if (given.has(port) || !(await reserve(port)) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} in ${TRIES_MAX} tries`)
}

/** Reserves the port, because two processes could find it free before either uses it. On Linux a named socket tells them apart. */
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
