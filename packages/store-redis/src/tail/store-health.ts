import type { DurabilityClass, StoreEvent } from '@counterstep/core'
import { admitServers, type Terms } from '../links/admit-servers.ts'
import { readFacts } from '../links/server-facts.ts'
import type { ServerLink } from '../links/server-link.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { type TailLoss, TailWatch } from './tail-watch.ts'

export interface RedisCounters {
  /** Times that a server was found to have forgotten what it had acknowledged. */
  readonly losses: number
  /** Connections that broke. */
  readonly breaks: number
}

/** Tells the host what happens to the servers, and counts it. */
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
    this.tail = new TailWatch(calls, processId, (loss) => this.#lost(loss))
  }

  /** The class that the host was told at the start. */
  promise(durabilityClass: DurabilityClass): void {
    this.#promised = durabilityClass
  }

  joined(link: ServerLink): void {
    this.#onEvent({ level: 'info', name: 'store-connected', detail: nameOf(link) })
    this.tail.inspect(link)
    // Without an answer there is nothing to compare; the next connection asks again.
    this.#compareClass(link).catch(() => undefined)
  }

  broken(link: ServerLink, error: Error): void {
    this.#breaks += 1
    this.#onEvent({ level: 'warn', name: 'store-connection-lost', detail: nameOf(link), error })
  }

  /** A server may come back under other settings, or another one in its place. */
  async #compareClass(link: ServerLink): Promise<void> {
    const found = admitServers([await readFacts(link)], { ...this.#terms, acceptClassC: true })
    if (found <= this.#promised) return
    this.#onEvent({
      level: 'error',
      name: 'store-class-lowered',
      detail: `${nameOf(link)} is class ${found} now, and ${this.#promised} was promised`,
    })
  }

  counters(): RedisCounters {
    return { losses: this.#losses, breaks: this.#breaks }
  }

  #lost({ server, knownUntil, acknowledgedUntil, foundAt }: TailLoss): void {
    this.#losses += 1
    const from = knownUntil === undefined ? 'some instant' : instantOf(knownUntil)
    this.#onEvent({
      level: 'error',
      name: 'store-tail-lost',
      detail:
        `${server} does not know any more what it had acknowledged: writes after ${from} ` +
        `and until ${instantOf(acknowledgedUntil)} may be gone (found at ${instantOf(foundAt)})`,
    })
  }
}

function nameOf({ endpoint }: ServerLink): string {
  return `${endpoint.host}:${endpoint.port}`
}

function instantOf(at: number): string {
  return new Date(at).toISOString()
}
