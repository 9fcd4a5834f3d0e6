import type { StoreEvent } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { SqlError } from '@counterstep/store-sql'
import type { Session } from './session.ts'

export interface CommandListenerDeps {
  readonly open: () => Promise<Session>
  readonly onEvent: (event: StoreEvent) => void
}

/** flush-statement.ts tells of commands on it. Another Counterstep in this database may share it, since its gids mean nothing here. */
const LISTEN = 'LISTEN counterstep'
const REOPEN_MS = 1_000

/**
 * Hears on one connection of its own which rows a command has changed. This is a hint: while the connection is lost nothing is heard,
 * and a node that is not told learns of a command at its next renewal.
 */
export class CommandListener {
  readonly #deps: CommandListenerDeps
  readonly #listeners: ((gid: Gid) => void)[] = []
  #session: Session | undefined
  #reopening: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(deps: CommandListenerDeps) {
    this.#deps = deps
  }

  get isHearing(): boolean {
    return this.#session !== undefined
  }

  add(listener: (gid: Gid) => void): void {
    this.#listeners.push(listener)
    if (this.#listeners.length === 1) void this.#open()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reopening)
    this.#session?.end()
    this.#session = undefined
  }

  async #open(): Promise<void> {
    try {
      const session = await this.#deps.open()
      session.onEnd(() => this.#reopen(session))
      session.onNotification((gid) => this.#tell(gid as Gid))
      await session.send({ sql: LISTEN })
      if (this.#isClosed) session.end()
      else this.#session = session
    } catch (error: unknown) {
      if (!(error instanceof SqlError)) throw error
      this.#reopen()
    }
  }

  #tell(gid: Gid): void {
    for (const listener of this.#listeners) listener(gid)
  }

  #reopen(ended?: Session): void {
    if (this.#isClosed) return
    if (ended !== undefined && this.#session === ended) {
      this.#session = undefined
      const detail = 'commands on other nodes are learned at the next renewal until it is there again'
      this.#deps.onEvent({ level: 'warn', name: 'store-connection-lost', detail })
    }
    clearTimeout(this.#reopening)
    this.#reopening = setTimeout(() => void this.#open(), REOPEN_MS).unref()
  }
}
