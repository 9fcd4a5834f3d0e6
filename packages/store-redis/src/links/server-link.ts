import { TLSSocket } from 'node:tls'
import { StoreUnavailableError } from '@counterstep/core'
import { LibraryChangedError } from '@counterstep/protocol'
import { Command, Redis, type RedisOptions, ReplyError } from 'ioredis'
import { AnswerDeadline } from './answer-deadline.ts'
import { isLoginRefusal, ServerRefusal } from './command-errors.ts'
import {
  assertDriverParts,
  assertWasWritten,
  readSocket,
  sendCommand,
  TrackedCommand,
} from './driver-parts.ts'
import type { InFlight } from './in-flight.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface LinkSettings {
  readonly username?: string
  readonly password?: string
  readonly db: number
  readonly tls?: { readonly ca?: string; readonly servername?: string }
  readonly commandTimeoutMs: number
  readonly connectTimeoutMs: number
}

export interface LinkListener {
  /** The link is connected again after a break. */
  readonly restored: (link: ServerLink) => void
  readonly lost: (link: ServerLink, reason: Error) => void
}

export type CommandArgument = string | number

const RECONNECT_FIRST_MS = 50
const RECONNECT_MAX_MS = 2_000

/** This is one connection to one server. Nothing is sent twice, and nothing waits for a connection. */
export class ServerLink {
  readonly endpoint: Endpoint
  /** Settles with the first attempt to connect. */
  readonly opened: Promise<void>
  readonly #redis: Redis
  readonly #inFlight: InFlight
  readonly #listener: LinkListener
  readonly #deadline: AnswerDeadline
  #lastError: Error | undefined
  #isUp = false
  #isClosing = false
  #isCorked = false

  constructor(endpoint: Endpoint, settings: LinkSettings, inFlight: InFlight, listener: LinkListener) {
    this.endpoint = endpoint
    this.#inFlight = inFlight
    this.#listener = listener
    this.#deadline = new AnswerDeadline(settings.commandTimeoutMs, () => this.#giveUp())
    this.#redis = new Redis(toRedisOptions(endpoint, settings))
    this.#redis.on('error', (error: Error) => {
      // This error is no reason, but follows from one.
      if (error.name !== 'MaxRetriesPerRequestError') this.#lastError = new Error(error.message)
    })
    this.#limitHandshake()
    this.opened = this.#open()
    // A caller that needs the first connection awaits it. Others find that the link is not up.
    this.opened.catch(() => undefined)
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** The reason why the link is not up, for the cause of an error. */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /** Rejects with a ServerRefusal, or with a StoreUnavailableError if there is no answer. */
  async send(name: string, args: readonly CommandArgument[], isAsking = false): Promise<unknown> {
    const bytes = measure(args)
    this.#inFlight.enter(bytes)
    // The command copies the arguments.
    const command = new TrackedCommand(name, args as CommandArgument[], { replyEncoding: 'utf8' })
    const question = this.#deadline.begin()
    try {
      this.#corkThisTurn()
      // ASKING applies to the next command of the connection, so nothing may come between the two. If it fails, the next
      // command is redirected again.
      if (isAsking) sendCommand(this.#redis, new Command('asking')).catch(() => undefined)
      const answer = await sendCommand(this.#redis, command)
      assertWasWritten(command)
      return answer
    } catch (error: unknown) {
      throw this.#failure(error, command.isWritten)
    } finally {
      this.#deadline.end(question)
      this.#inFlight.leave(bytes)
      command.forgetArguments()
    }
  }

  close(): void {
    this.#isClosing = true
    this.#redis.disconnect()
  }

  /** Bounds the time for the login and for the choice of the database as well. */
  #limitHandshake(): void {
    let question: number | undefined
    this.#redis.on('connect', () => {
      question = this.#deadline.begin()
    })
    for (const settled of ['ready', 'close']) {
      this.#redis.on(settled, () => {
        if (question !== undefined) this.#deadline.end(question)
      })
    }
  }

  /**
   * Ends the connection because an answer is late, so that every command on it gets its error now. The written bytes go
   * with the connection. Otherwise they would be sent before every repeat, and on a slow link no answer would be in time.
   */
  #giveUp(): void {
    this.#lastError = new Error('Redis did not answer in time')
    const socket = readSocket(this.#redis)
    // A reset, which TLS does not have, makes the kernel drop its unsent bytes too.
    if (socket instanceof TLSSocket) socket.destroy()
    else socket?.resetAndDestroy()
  }

  async #open(): Promise<void> {
    try {
      await this.#redis.connect()
    } catch {
      const { host, port } = this.endpoint
      const reason = this.#lastError?.message ?? 'it was closed'
      const isLoginRefused = isLoginRefusal(reason)
      const trouble = isLoginRefused ? 'the server refused the login: Redis' : 'no connection to Redis'
      throw new StoreUnavailableError(`${trouble} at ${host}:${port}: ${reason}`, {
        applied: 'no',
        isLoginRefused,
        cause: this.#lastError,
      })
    } finally {
      this.#watch()
    }
    assertDriverParts(this.#redis)
    this.#isUp = true
  }

  #watch(): void {
    this.#redis.on('ready', () => {
      this.#isUp = true
      this.#lastError = undefined
      if (!this.#isClosing) this.#listener.restored(this)
    })
    this.#redis.on('close', () => {
      const wasUp = this.#isUp
      this.#isUp = false
      if (wasUp && !this.#isClosing) {
        this.#listener.lost(this, this.#lastError ?? new Error('the connection was closed'))
      }
    })
  }

  /** The commands of one turn of the event loop leave in one write of the socket. */
  #corkThisTurn(): void {
    const socket = readSocket(this.#redis)
    if (this.#isCorked || socket === undefined) return
    this.#isCorked = true
    socket.cork()
    setImmediate(() => {
      this.#isCorked = false
      socket.uncork()
    })
  }

  #failure(error: unknown, isWritten: boolean): Error {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof LibraryChangedError) return error
    if (error instanceof ReplyError) return new ServerRefusal(message)
    return new StoreUnavailableError(isWritten ? 'Redis did not answer' : 'there is no connection to Redis', {
      applied: isWritten ? 'unknown' : 'no',
      cause: this.#lastError ?? new Error(message),
    })
  }
}

function toRedisOptions({ host, port }: Endpoint, settings: LinkSettings) {
  const { username, password, db, tls, connectTimeoutMs } = settings
  return {
    host,
    port,
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
    lazyConnect: true,
    connectionName: 'counterstep',
    // RESP2 has the same texts and arrays from Redis 7 and Valkey, and no pushed messages.
    protocol: 2 as const,
    disableClientInfo: true,
    // The commands themselves are refused with LOADING and the like. The check would need the right to INFO.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Unanswered commands fail at once. With null they would wait for their timeout while ioredis reconnects.
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    retryStrategy: reconnectDelayMs,
    // This server was the master and is a replica now. Its name may lead to the new master by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions
}

function reconnectDelayMs(attempt: number): number {
  const delayMs = Math.min(RECONNECT_MAX_MS, RECONNECT_FIRST_MS * 2 ** Math.min(attempt - 1, 10))
  return Math.ceil(delayMs * (0.5 + Math.random() / 2))
}

/** Counts UTF-16 units, which are close enough for a bound and cost nothing. */
function measure(args: readonly CommandArgument[]): number {
  let size = 0
  for (const argument of args) size += typeof argument === 'string' ? argument.length : 8
  return size
}
