import type { DurabilityClass, StoreEvent } from '@counterstep/core'
import { admitServers, type Terms } from '../links/admit-servers.ts'
import { readFacts } from '../links/server-facts.ts'
import type { ServerLink } from '../links/server-link.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { type TailLoss, TailWatch } from './tail-watch.ts'

export interface RedisCounters {
  /** Counts how often a server had lost writes that it had acknowledged. */
  readonly losses: number
  /** Counts the broken connections. */
  readonly breaks: number
}

/** Reports events of the servers to the host, and counts them. */
export class StoreHealth {
  readonly tail: TailWatch
  readonly #terms: Terms
  readonly #onEvent: (event: StoreEvent) => void
  #promised: DurabilityClass = 'C'
  #losses = 0
  #breaks = 0

  constructor(calls: ShardCalls, processId: string, terms: Terms, onEvent: (event: StoreEvent) => void) {
    this.#terms = terms
    this.#onEvent = onEvent
    this.tail = new TailWatch(calls, processId, (loss) => this.#noteLoss(loss))
  }

  /** Keeps the class that the host was told at the start. */
  setPromisedClass(durabilityClass: DurabilityClass): void {
    this.#promised = durabilityClass
  }

  noteJoined(link: ServerLink): void {
    this.#onEvent({ level: 'info', name: 'store-connected', detail: toName(link) })
    this.tail.inspect(link)
    // Without an answer there is nothing to compare. The next connection asks again.
    this.#compareClass(link).catch(() => undefined)
  }

  noteBroken(link: ServerLink, error: Error): void {
    this.#breaks += 1
    this.#onEvent({ level: 'warn', name: 'store-connection-lost', detail: toName(link), error })
  }

  /** A server may come back with other settings, or another server may take its place. */
  async #compareClass(link: ServerLink): Promise<void> {
    const found = admitServers([await readFacts(link)], { ...this.#terms, acceptClassC: true })
    if (found <= this.#promised) return
    this.#onEvent({
      level: 'error',
      name: 'store-class-lowered',
      detail: `${toName(link)} is class ${found} now, and ${this.#promised} was promised`,
    })
  }

  counters(): RedisCounters {
    return { losses: this.#losses, breaks: this.#breaks }
  }

  #noteLoss({ server, knownUntil, acknowledgedUntil, foundAt }: TailLoss): void {
    this.#losses += 1
    const from = knownUntil === undefined ? 'some instant' : toIsoTime(knownUntil)
    this.#onEvent({
      level: 'error',
      name: 'store-tail-lost',
      detail:
        `${server} does not know any more what it had acknowledged: writes after ${from} ` +
        `and until ${toIsoTime(acknowledgedUntil)} may be gone (found at ${toIsoTime(foundAt)})`,
    })
  }
}

function toName({ endpoint }: ServerLink): string {
  return `${endpoint.host}:${endpoint.port}`
}

function toIsoTime(at: number): string {
  return new Date(at).toISOString()
}
