import { createHash } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { progress } from '../progress.ts'

const WAIT_MS_MAX = 900_000

/**
 * Runs `work` while no other process of this machine runs work under the same name. The lock is a socket with a name but no
 * file, which only Linux has. It ends with its holder, so no lock is ever left over. Other systems have no lock: nothing is
 * installed there, and complete data folders are moved into place.
 */
export async function exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return await work()
  const lock = await take(name)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

interface Lock {
  release(): void
}

async function take(name: string): Promise<Lock> {
  const path = `\0counterstep-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  const endAt = Date.now() + WAIT_MS_MAX
  let hasSpoken = false
  for (;;) {
    const lock = await tryToTake(path)
    if (lock !== undefined) return lock
    if (Date.now() > endAt) throw new Error(`${name}: another process had the lock for ${WAIT_MS_MAX} ms`)
    if (!hasSpoken) progress(`waiting for another process: ${name}`)
    hasSpoken = true
    await untilReleased(path, endAt)
  }
}

async function tryToTake(path: string): Promise<Lock | undefined> {
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    // A waiter may go away without harm to the holder.
    socket.on('error', () => socket.destroy())
  })
  const outcome = new Promise<boolean>((resolve, reject) => {
    server.once('listening', () => resolve(true))
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
  })
  server.listen(path)
  if (!(await outcome)) return undefined
  return {
    release() {
      server.close()
      for (const socket of waiting) socket.destroy()
    },
  }
}

/** A connection to the holder lasts as long as it holds the lock. */
async function untilReleased(path: string, endAt: number): Promise<void> {
  const socket = connect(path)
  socket.setTimeout(Math.max(1, endAt - Date.now()), () => socket.destroy())
  // If it is refused or reset, the lock was released or its holder has died. The next try shows which.
  socket.on('error', () => socket.destroy())
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
}
