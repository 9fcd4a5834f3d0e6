import { setTimeout as delay } from 'node:timers/promises'
import { type AssertionError, StoreUnavailableError } from '@counterstep/core'
import { ALL_SHARDS } from '../shards/shards.ts'
import { errorOfRefusal, type Redirect, redirectOf, ServerRefusal } from './command-errors.ts'
import type { InFlight } from './in-flight.ts'
import { ScriptCaller, type ScriptName } from './script-caller.ts'
import { type CommandArgument, type Endpoint, type LinkSettings, ServerLink } from './server-link.ts'
import { readTopology } from './topology.ts'

export interface ServersListener {
  /** A server that is connected again, or for the first time since the store was opened. */
  readonly joined: (link: ServerLink) => void
  /** A server that serves shards which another one has served: what it holds may be older. */
  readonly gained: (link: ServerLink) => void
  readonly lost: (link: ServerLink, reason: Error) => void
}

const HOPS_MAX = 8
const TRY_AGAIN_MS = 50
const TRY_AGAIN_MAX = 20
const REFRESH_MIN_MS = 250

/** Who serves which shard: one server all of them, or the masters of a cluster theirs. */
export class Servers {
  readonly isCluster: boolean
  readonly #seeds: readonly Endpoint[]
  readonly #settings: LinkSettings
  readonly #inFlight: InFlight
  readonly #listener: ServersListener
  readonly #scripts = new ScriptCaller()
  readonly #links = new Map<string, ServerLink>()
  #ofShard: readonly (ServerLink | undefined)[] = []
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
    const first = await this.#firstSeed()
    if (this.isCluster) await this.#adopt(await this.#topologyOf(first))
    else this.#ofShard = ALL_SHARDS.map(() => first)
    await Promise.all(this.masters().map((link) => link.opened))
    this.#isOpen = true
  }

  /** Those that serve shards. */
  masters(): readonly ServerLink[] {
    return [...new Set(this.#ofShard)].filter((link) => link !== undefined)
  }

  shardsOf(link: ServerLink): readonly number[] {
    return ALL_SHARDS.filter((shard) => this.#ofShard[shard] === link)
  }

  linkOf(shard: number): ServerLink | undefined {
    return this.#ofShard[shard]
  }

  masterOf(shard: number): ServerLink {
    const link = this.linkOf(shard)
    if (link === undefined) throw new StoreUnavailableError(`nobody serves shard ${shard}`, { applied: 'no' })
    return link
  }

  script(
    shard: number,
    script: ScriptName,
    keys: readonly string[],
    args: readonly CommandArgument[],
  ): Promise<unknown> {
    const send = (name: string, all: readonly CommandArgument[]) => this.#send(shard, name, all)
    return this.#scripts.call(send, script, keys, args).catch(publicError)
  }

  command(shard: number, name: string, args: readonly CommandArgument[]): Promise<unknown> {
    return this.#send(shard, name, args).catch(publicError)
  }

  close(): void {
    this.#isClosed = true
    for (const link of this.#links.values()) link.close()
  }

  /** Follows a cluster's redirects: a redirected command was not run. */
  async #send(shard: number, name: string, args: readonly CommandArgument[]): Promise<unknown> {
    let link = this.masterOf(shard)
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
        const redirect = redirectOf(error)
        if (error.word === 'TRYAGAIN' && tries < TRY_AGAIN_MAX) await delay(TRY_AGAIN_MS)
        else if (redirect === undefined || hops >= HOPS_MAX) throw error
        else {
          hops += 1
          isAsking = redirect.isAsking
          link = await this.#redirected(shard, redirect, link)
        }
      }
    }
  }

  async #redirected(shard: number, redirect: Redirect, from: ServerLink): Promise<ServerLink> {
    const link = this.#linkTo({ host: redirect.host || from.endpoint.host, port: redirect.port })
    if (!redirect.isAsking) {
      this.#serve(this.#ofShard.with(shard, link))
      this.#refreshSoon()
    }
    if (!link.isUp) await link.opened
    return link
  }

  async #firstSeed(): Promise<ServerLink> {
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

  async #topologyOf(link: ServerLink): Promise<readonly (Endpoint | undefined)[]> {
    return readTopology(link).catch(publicError)
  }

  #refreshSoon(): void {
    if (this.#refreshing !== undefined || this.#isClosed) return
    this.#refreshing = this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
  }

  /** From whichever node answers first, a seed where none is up; no answer: the next broken command asks again. */
  async #refresh(): Promise<void> {
    const up = [...this.#links.values()].filter((link) => link.isUp)
    const asked = up.length > 0 ? up : this.#seeds.map((seed) => this.#linkTo(seed))
    const topology = await Promise.any(asked.map((link) => this.#topologyOf(link))).catch(() => undefined)
    if (topology !== undefined && !this.#isClosed) this.#adopt(topology)
    await delay(REFRESH_MIN_MS, undefined, { ref: false })
  }

  #adopt(topology: readonly (Endpoint | undefined)[]): void {
    this.#serve(topology.map((endpoint) => endpoint && this.#linkTo(endpoint)))
    for (const [name, link] of this.#links) {
      if (this.#ofShard.includes(link)) continue
      this.#links.delete(name)
      link.close()
    }
  }

  #serve(ofShard: readonly (ServerLink | undefined)[]): void {
    const before = this.#ofShard
    this.#ofShard = ofShard
    if (!this.#isOpen) return
    const gained = ofShard.filter((link, shard) => link !== undefined && link !== before[shard])
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
    // The first ones are awaited by open().
    if (this.#isOpen)
      link.opened.then(
        () => this.#listener.joined(link),
        (error) => this.#listener.lost(link, error),
      )
    return link
  }
}

function publicError(error: unknown): never {
  throw error instanceof ServerRefusal
    ? (errorOfRefusal(error) satisfies StoreUnavailableError | AssertionError)
    : error
}
