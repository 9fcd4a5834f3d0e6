import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Growth } from './disk.ts'
import type { PoweredServer, PoweredStore, RecordedDisk } from './powered-store.ts'
import { StartRefusedError, startServer } from './server-process.ts'

const START_MS_MAX = 60_000
const ASK_EVERY_MS = 20
const SAID_CHARACTERS_MAX = 2_000

export interface RedisChoice {
  readonly binary: string
  readonly port: number
  readonly appendfsync: 'always' | 'everysec'
  /** Redis' log has no checksums, so it takes zeros within a last write for data; default in-order. */
  readonly growth?: Growth
}

/**
 * Redis under the shim, the server beside it. The disk begins with an empty append-only log, since Redis 7 makes the
 * log's folder without a sync of the folder above.
 */
export class PoweredRedis implements PoweredStore {
  readonly name: string
  readonly growth: Growth
  readonly #choice: RedisChoice
  #repairs = 0

  constructor(choice: RedisChoice) {
    this.name = `redis ${choice.appendfsync}`
    this.growth = choice.growth ?? 'in-order'
    this.#choice = choice
  }

  get repairs(): number {
    return this.#repairs
  }

  async prepare(root: string): Promise<void> {
    const redis = await startRedis(this.#choice, root, {})
    await redis.kill()
  }

  async start({ root, variables }: RecordedDisk): Promise<PoweredServer> {
    const redis = await this.#startRepaired(root, variables)
    try {
      const server = await startServer(['--store', `redis://127.0.0.1:${this.#choice.port}`], {})
      return {
        url: server.url,
        cut: async () => {
          await redis.kill()
          await server.kill()
        },
      }
    } catch (error: unknown) {
      await redis.kill()
      throw error
    }
  }

  /**
   * A last write with a hole in it may make Redis refuse its log; its operator then cuts the log after the last good
   * entry, as Redis' own manual says. Every acknowledged write must stand before that.
   */
  async #startRepaired(root: string, variables: RecordedDisk['variables']): Promise<RedisProcess> {
    try {
      return await startRedis(this.#choice, root, variables)
    } catch (error: unknown) {
      if (!(error instanceof StartRefusedError)) throw error
      await repairLog(this.#choice.binary, root)
      this.#repairs += 1
      return await startRedis(this.#choice, root, variables)
    }
  }
}

interface RedisProcess {
  kill(): Promise<void>
}

async function startRedis(
  { binary, port, appendfsync }: RedisChoice,
  root: string,
  variables: RecordedDisk['variables'],
): Promise<RedisProcess> {
  const settings = ['--appendonly', 'yes', '--appendfsync', appendfsync, '--maxmemory-policy', 'noeviction']
  // A log that is rewritten often: then its manifest and its renames are cut too.
  const rewriting = ['--auto-aof-rewrite-percentage', '50', '--auto-aof-rewrite-min-size', '64kb']
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', root, '--save', '']
  const child = spawn(binary, [...args, ...settings, ...rewriting], {
    // The program does by its name what it is: a server, or one of its tools.
    argv0: 'redis-server',
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-SAID_CHARACTERS_MAX)
  })
  const gone = new Promise<undefined>((resolve, reject) => {
    child.once('exit', () => resolve(undefined))
    child.once('error', reject)
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await gone
  }
  try {
    if (await answersInTime(port, gone)) return { kill }
  } catch (error: unknown) {
    await kill()
    throw error
  }
  throw new StartRefusedError(said)
}

async function answersInTime(port: number, gone: Promise<undefined>): Promise<boolean> {
  const end = performance.now() + START_MS_MAX
  while (performance.now() < end) {
    const answer = await Promise.race([ping(port), gone])
    if (answer === undefined) return false
    if (answer.startsWith('+PONG')) return true
    await sleep(ASK_EVERY_MS)
  }
  throw new Error(`Redis did not answer within ${START_MS_MAX} ms`)
}

/** The server's program is its own repair tool when it is called by that name. */
async function repairLog(binary: string, root: string): Promise<void> {
  const manifest = join(root, 'appendonlydir', 'appendonly.aof.manifest')
  const child = spawn(binary, ['--fix', manifest], {
    argv0: 'redis-check-aof',
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  child.stdin.end('y\n')
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
}

/** A Redis that loads its log answers an error; before that there is no answer. */
function ping(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'))
    socket.once('data', (answer) => {
      socket.destroy()
      resolve(answer.toString())
    })
    socket.once('error', (error) => resolve(error.message))
  })
}
