import { setTimeout as delay } from 'node:timers/promises'
import type { TcpProxy } from '@counterstep/test-servers'
import type { BankNode } from '../processes/bank-node.ts'
import { type FencedWrites, readInFlight } from '../processes/server-figures.ts'
import type { ServerNode } from '../processes/server-node.ts'
import type { HurtServer } from '../stores/store-fixture.ts'
import type { Edge, Harm, NemesisAction } from './nemesis-action.ts'
import type { Lane } from './pace.ts'

/** A kill with fewer in flight proves little. */
export const IN_FLIGHT_MIN = 5
/** A kill waits so long at most for a server that has enough to lose. */
const IN_FLIGHT_WAIT_MS = 4_000
/** A bank that no plan call with enough steps has reached by then is killed where it is. */
const AIM_MS_MAX = 60_000
const POLL_EVERY_MS = 10
const LATENCY_MS = 60
const SLICE_BYTES = 100
const SLICE_GAP_MS = 2

interface HarmRule {
  begin(proxy: TcpProxy): void
  end(proxy: TcpProxy): void
}

const HARM_RULES: Readonly<Record<Harm, HarmRule>> = {
  cut: { begin: (proxy) => proxy.cut(), end: (proxy) => proxy.cut() },
  refuse: {
    begin(proxy) {
      proxy.refuse()
      proxy.cut()
    },
    end: (proxy) => proxy.accept(),
  },
  'black-hole': { begin: (proxy) => proxy.blackHole(), end: (proxy) => proxy.heal() },
  hold: { begin: (proxy) => proxy.hold(), end: (proxy) => proxy.release() },
  latency: { begin: (proxy) => proxy.latency(LATENCY_MS), end: (proxy) => proxy.latency(0) },
  slice: { begin: (proxy) => proxy.slice(SLICE_BYTES, SLICE_GAP_MS), end: (proxy) => proxy.unslice() },
}

type Aim = Extract<NemesisAction, { readonly type: 'aim-at-bank' }>

export interface NemesisDeps {
  readonly servers: readonly ServerNode[]
  readonly banks: readonly BankNode[]
  readonly storeServer: HurtServer | undefined
  readonly fenced: FencedWrites
  /** Aborts a transaction, and returns when that is answered. */
  readonly abort: (gid: string) => Promise<void>
  /** Told of each action, after it. */
  readonly onDone: (action: NemesisAction, startedAt: number, endedAt: number) => void
}

export interface NemesisCounts {
  serverKills: number
  /** Those of the kills that hit at least IN_FLIGHT_MIN transactions. */
  killsWithWork: number
  serverPauses: number
  storeKills: number
  storePauses: number
  bankKills: number
  edgesHurt: number
}

/** Does what the schedule says, each when it is due. */
export class Nemesis {
  readonly counts: NemesisCounts = {
    serverKills: 0,
    killsWithWork: 0,
    serverPauses: 0,
    storeKills: 0,
    storePauses: 0,
    bankKills: 0,
    edgesHurt: 0,
  }
  readonly #deps: NemesisDeps
  readonly #turns = new Turns()

  constructor(deps: NemesisDeps) {
    this.#deps = deps
  }

  async run(actions: readonly NemesisAction[], lane: Lane): Promise<void> {
    for (const action of actions) {
      await lane.untilDue()
      const startedAt = performance.now()
      await this.#do(action)
      this.#deps.onDone(action, startedAt, performance.now())
      lane.finishOne()
    }
  }

  #do(action: NemesisAction): Promise<void> {
    switch (action.type) {
      case 'kill-server':
        return this.#onServer(action.server, (server) => this.#killServer(server, action.downMs))
      case 'pause-server':
        return this.#onServer(action.server, (server) => this.#pauseServer(server, action.forMs))
      case 'kill-store':
        return this.#onStore((store) => this.#killStore(store, action.downMs))
      case 'pause-store':
        return this.#onStore((store) => this.#pauseStore(store, action.forMs))
      case 'kill-bank':
        return this.#turns.take(`bank-${action.bank}`, () => this.#killBank(action.bank, action.downMs))
      case 'aim-at-bank':
        return this.#turns.take(`bank-${action.bank}`, () => this.#aimAtBank(action))
      case 'hurt-edge':
        return this.#hurt(action.edge, action.harm, action.forMs)
    }
  }

  #onServer(index: number, work: (server: ServerNode) => Promise<void>): Promise<void> {
    const server = at(this.#deps.servers, index)
    return this.#turns.take(server.process.name, () => work(server))
  }

  #onStore(work: (store: HurtServer) => Promise<void>): Promise<void> {
    const { storeServer } = this.#deps
    if (storeServer === undefined) throw new Error('there is no store server to hurt')
    return this.#turns.take('store', () => work(storeServer))
  }

  async #killServer(server: ServerNode, downMs: number): Promise<void> {
    const held = await untilBusy(server)
    await this.#deps.fenced.sample()
    await server.process.kill()
    this.counts.serverKills += 1
    if (held >= IN_FLIGHT_MIN) this.counts.killsWithWork += 1
    await delay(downMs)
    await server.process.restart()
  }

  async #pauseServer(server: ServerNode, forMs: number): Promise<void> {
    await untilBusy(server)
    await server.process.pause()
    await delay(forMs)
    await server.process.resume()
    this.counts.serverPauses += 1
  }

  async #killStore(store: HurtServer, downMs: number): Promise<void> {
    await store.kill()
    this.counts.storeKills += 1
    await delay(downMs)
    await store.restart()
  }

  async #pauseStore(store: HurtServer, forMs: number): Promise<void> {
    await store.pause()
    this.counts.storePauses += 1
    await delay(forMs)
    await store.resume()
  }

  async #killBank(index: number, downMs: number): Promise<void> {
    const { process } = at(this.#deps.banks, index)
    await process.kill()
    this.counts.bankKills += 1
    await delay(downMs)
    await process.restart()
  }

  async #aimAtBank({ bank, order, isAborted, downMs }: Aim): Promise<void> {
    const { process, orderDeath, readDeaths } = at(this.#deps.banks, bank)
    await orderDeath(order)
    if (await process.untilEnded(AIM_MS_MAX)) {
      const death = (await readDeaths()).at(-1)
      if (death === undefined) throw new Error(`${process.name} ended by itself; see its log`)
      await Promise.all([delay(downMs), isAborted ? this.#deps.abort(death.gid) : undefined])
    } else await process.kill()
    await process.restart()
  }

  async #hurt(edge: Edge, harm: Harm, forMs: number): Promise<void> {
    const proxy = this.#findProxy(edge)
    HARM_RULES[harm].begin(proxy)
    this.counts.edgesHurt += 1
    await delay(forMs)
    HARM_RULES[harm].end(proxy)
  }

  #findProxy(edge: Edge): TcpProxy {
    switch (edge.type) {
      case 'client':
        return at(this.#deps.servers, edge.server).clientProxy
      case 'bank':
        return at(this.#deps.banks, edge.bank).proxy
      case 'store': {
        const { storeProxy } = at(this.#deps.servers, edge.server)
        if (storeProxy === undefined) throw new Error('there is no network to the store')
        return storeProxy
      }
    }
  }
}

/** How many transactions it holds when there are enough, or when there was no more time to wait. */
async function untilBusy(server: ServerNode): Promise<number> {
  const endAt = performance.now() + IN_FLIGHT_WAIT_MS
  for (;;) {
    const held = await readInFlight(server)
    if (held >= IN_FLIGHT_MIN || performance.now() > endAt) return held
    await delay(POLL_EVERY_MS)
  }
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`there is no ${index}`)
  return item
}

/** Allows one fault at a time for each process: a paused one is not killed meanwhile. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work)
    // The next caller waits for the end of this one, even if it failed; its error is this caller's.
    this.#last.set(
      name,
      mine.then(
        () => undefined,
        () => undefined,
      ),
    )
    return await mine
  }
}
