import { setTimeout as delay } from 'node:timers/promises'
import { type AssertionError, StoreUnavailableError } from '@counterstep/core'
import type { ScriptName } from '../generated/scripts.ts'
import { ALL_SHARDS } from '../shards/shards.ts'
import { type Redirect, readRedirect, ServerRefusal, toStoreError } from './command-errors.ts'
import type { InFlight } from './in-flight.ts'
import { ScriptCaller } from './script-caller.ts'
import { type CommandArgument, type Endpoint, type LinkSettings, ServerLink } from './server-link.ts'
import { readTopology } from './topology.ts'

export interface ServersListener {
  /** A server is connected again, or for the first time since the store was opened. */
  readonly joined: (link: ServerLink) => void
  /** A server serves shards that another one has served. Its data may be older. */
  readonly gained: (link: ServerLink) => void
  readonly lost: (link: ServerLink, reason: Error) => void
}

const HOPS_MAX = 8
const TRY_AGAIN_MS = 50
const TRY_AGAIN_MAX = 20
const REFRESH_MIN_MS = 250

/** Knows which server serves which shard: one server serves all of them, or each master of a cluster some. */
export class Servers {
  readonly isCluster: boolean
  readonly #seeds: readonly Endpoint[]
  readonly #settings: LinkSettings
  readonly #inFlight: InFlight
  readonly #listener: ServersListener
  readonly #scripts = new ScriptCaller()
  readonly #links = new Map<string, ServerLink>()
  #linkByShard: readonly (ServerLink | undefined)[] = []
  #refreshing: Promise<void> | undefined
  #isOpen = false
  #isClosed = false

  constructor(
    place: { readonly isCluster: boolean; readonly seeds: readonly Endpoint[] },
    settings: LinkSettings,
    inFlight: InFlight,
    listener: ServersListener,
  ) {
    this.isCluster = place.isCluster
    this.#seeds = place.seeds
    this.#settings = settings
    this.#inFlight = inFlight
    this.#listener = listener
  }

  /** Throws if no seed, or one of the masters, cannot be reached. */
  async open(): Promise<void> {
    const first = await this.#openFirstSeed()
    if (this.isCluster) await this.#adopt(await this.#readTopology(first))
    else this.#linkByShard = ALL_SHARDS.map(() => first)
    await Promise.all(this.masters().map((link) => link.opened))
    this.#isOpen = true
  }

  /** Lists the servers that serve shards. */
  masters(): readonly ServerLink[] {
    return [...new Set(this.#linkByShard)].filter((link) => link !== undefined)
  }

  findShards(link: ServerLink): readonly number[] {
    return ALL_SHARDS.filter((shard) => this.#linkByShard[shard] === link)
  }

  findLink(shard: number): ServerLink | undefined {
    return this.#linkByShard[shard]
  }

  getMaster(shard: number): ServerLink {
    const link = this.findLink(shard)
    if (link === undefined)
      throw new StoreUnavailableError(`no server serves shard ${shard}`, { applied: 'no' })
    return link
  }

  script(
    shard: number,
    script: ScriptName,
    keys: readonly string[],
    args: readonly CommandArgument[],
  ): Promise<unknown> {
    const send = (name: string, all: readonly CommandArgument[]) => this.#send(shard, name, all)
    return this.#scripts.call(send, script, keys, args).catch(throwPublicError)
  }

  command(shard: number, name: string, args: readonly CommandArgument[]): Promise<unknown> {
    return this.#send(shard, name, args).catch(throwPublicError)
  }

  close(): void {
    this.#isClosed = true
    for (const link of this.#links.values()) link.close()
  }

  /** Follows a cluster's redirects, since a redirected command was not run. */
  async #send(shard: number, name: string, args: readonly CommandArgument[]): Promise<unknown> {
    let link = this.getMaster(shard)
    let isAsking = false
    let hops = 0
    for (let tries = 0; ; tries++) {
      try {
        return await link.send(name, args, isAsking)
      } catch (error: unknown) {
        if (!this.isCluster || this.#isClosed) throw error
        if (!(error instanceof ServerRefusal)) {
          this.#refreshSoon()
          throw error
        }
        const redirect = readRedirect(error)
        if (error.word === 'TRYAGAIN' && tries < TRY_AGAIN_MAX) await delay(TRY_AGAIN_MS)
        else if (redirect === undefined || hops >= HOPS_MAX) throw error
        else {
          hops += 1
          isAsking = redirect.isAsking
          link = await this.#follow(shard, redirect, link)
        }
      }
    }
  }

  async #follow(shard: number, redirect: Redirect, from: ServerLink): Promise<ServerLink> {
    const link = this.#linkTo({ host: redirect.host || from.endpoint.host, port: redirect.port })
    if (!redirect.isAsking) {
      this.#serve(this.#linkByShard.with(shard, link))
      this.#refreshSoon()
    }
    if (!link.isUp) await link.opened
    return link
  }

  async #openFirstSeed(): Promise<ServerLink> {
    let failure: unknown
    for (const seed of this.#seeds) {
      const link = this.#linkTo(seed)
      try {
        await link.opened
        return link
      } catch (error: unknown) {
        failure = error
      }
    }
    throw failure
  }

  async #readTopology(link: ServerLink): Promise<readonly (Endpoint | undefined)[]> {
    return readTopology(link).catch(throwPublicError)
  }

  #refreshSoon(): void {
    if (this.#refreshing !== undefined || this.#isClosed) return
    this.#refreshing = this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
  }

  /**
   * Takes the topology from the node that answers first, or from a seed if none is up. Without an answer the next
   * failed command asks again.
   */
  async #refresh(): Promise<void> {
    const up = [...this.#links.values()].filter((link) => link.isUp)
    const asked = up.length > 0 ? up : this.#seeds.map((seed) => this.#linkTo(seed))
    const topology = await Promise.any(asked.map((link) => this.#readTopology(link))).catch(() => undefined)
    if (topology !== undefined && !this.#isClosed) this.#adopt(topology)
    await delay(REFRESH_MIN_MS, undefined, { ref: false })
  }

  #adopt(topology: readonly (Endpoint | undefined)[]): void {
    this.#serve(topology.map((endpoint) => endpoint && this.#linkTo(endpoint)))
    for (const [name, link] of this.#links) {
      if (this.#linkByShard.includes(link)) continue
      this.#links.delete(name)
      link.close()
    }
  }

  #serve(linkByShard: readonly (ServerLink | undefined)[]): void {
    const before = this.#linkByShard
    this.#linkByShard = linkByShard
    if (!this.#isOpen) return
    const gained = linkByShard.filter((link, shard) => link !== undefined && link !== before[shard])
    for (const link of new Set(gained)) if (link !== undefined) this.#listener.gained(link)
  }

  #linkTo(endpoint: Endpoint): ServerLink {
    const name = `${endpoint.host}:${endpoint.port}`
    const known = this.#links.get(name)
    if (known !== undefined) return known
    const link = new ServerLink(endpoint, this.#settings, this.#inFlight, {
      restored: (restored) => {
        this.#listener.joined(restored)
        if (this.isCluster) this.#refreshSoon()
      },
      lost: (lost, reason) => {
        this.#listener.lost(lost, reason)
        if (this.isCluster) this.#refreshSoon()
      },
    })
    this.#links.set(name, link)
    // open() awaits the first links.
    if (this.#isOpen)
      link.opened.then(
        () => this.#listener.joined(link),
        (error) => this.#listener.lost(link, error),
      )
    return link
  }
}

function throwPublicError(error: unknown): never {
  throw error instanceof ServerRefusal
    ? (toStoreError(error) satisfies StoreUnavailableError | AssertionError)
    : error
}
