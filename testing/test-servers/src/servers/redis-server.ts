import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { keptFolder } from '../processes/kept-process.ts'
import { redisAnswer } from '../proxy/redis-answer.ts'
import { readMessage } from './read-message.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

export interface RedisServer extends ServerProcess {
  readonly port: number
  /** The URL redis://127.0.0.1:PORT. */
  readonly url: string
}

export interface RedisServerOptions {
  /** Options of the server's command line, which come after the durable ones and override them. */
  readonly settings?: readonly string[]
}

/** These settings bring each write to the disk before it is answered, and never evict a key. */
const DURABLE = [
  ['--appendonly', 'yes'],
  ['--appendfsync', 'always'],
  ['--save', ''],
  ['--maxmemory-policy', 'noeviction'],
].flat()

/** Starts an empty, durable server on a free port of 127.0.0.1. */
export async function startRedisServer(
  command: string,
  { settings = [] }: RedisServerOptions,
): Promise<RedisServer> {
  const folder = await keptFolder('redis')
  const port = await freePort()
  // ACL SAVE writes to this file, so that the users of a test are there after a restart.
  const users = join(folder, 'users.acl')
  try {
    await writeFile(users, 'user default on nopass ~* &* +@all\n')
    const server = await startServerProcess({
      name: 'redis',
      folder,
      command,
      args: [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--aclfile',
        users,
        ...DURABLE,
        ...settings,
      ],
      waitingFor: () => waitingForPong(port),
    })
    return { ...server, port, url: `redis://127.0.0.1:${port}` }
  } catch (error: unknown) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Returns what is missing until the server answers a PING. While it loads its file, it answers an error. */
async function waitingForPong(port: number): Promise<string | undefined> {
  try {
    const answer = await redisAnswer({ host: '127.0.0.1', port }, ['PING'])
    return answer === 'PONG' ? undefined : answer
  } catch (error: unknown) {
    return readMessage(error)
  }
}
