import {
  assert,
  type FindOrigin,
  readServiceName,
  SHARED_TARGETS,
  textHash,
  UNLISTED_TARGETS_MAX,
} from '@counterstep/core'
import { OTHER } from '../other-key.ts'
import { Target } from './target.ts'

const TEXTS_MAX = 1_024
/** A target that was not looked up between two sweeps loses its counters when there is no room for another. */
const SWEEP_MS = 60_000

/** Says where a call goes: the counters of its origin, and the name of its service, of which an origin may have two. */
export interface Destination {
  readonly target: Target
  readonly service: string
}

/**
 * Finds the target of a branch URL. Each listed origin has counters of its own for good. At most UNLISTED_TARGETS_MAX
 * of the other origins have counters of their own, and the rest are spread over SHARED_TARGETS shared counters, so that
 * the memory for counters does not grow with the number of origins.
 */
export class Targets {
  readonly #findOrigin: FindOrigin
  readonly #now: () => number
  readonly #byOrigin = new Map<string, Target>()
  /** The destinations by the text of a URL up to its path, so that few URLs are parsed. */
  readonly #byText = new Map<string, Destination>()
  readonly #listed: ReadonlyMap<string, Target>
  readonly #shared: readonly Destination[]
  #sweptAt: number

  constructor(findOrigin: FindOrigin, now: () => number, listedOrigins: readonly string[] = []) {
    this.#findOrigin = findOrigin
    this.#now = now
    this.#listed = new Map(listedOrigins.map((origin) => [origin, new Target(origin, true)]))
    this.#shared = Array.from({ length: SHARED_TARGETS }, (_, n) => ({
      target: new Target(`other origins, part ${n}`),
      service: OTHER,
    }))
    this.#sweptAt = now()
  }

  find(url: string): Target {
    return this.findDestination(url).target
  }

  findDestination(url: string): Destination {
    const text = cutBeforePath(url)
    const known = this.#byText.get(text)
    const destination = known === undefined || known.target.isForgotten ? this.#learn(text, url) : known
    destination.target.isUsed = true
    return destination
  }

  all(): readonly Target[] {
    const shared = this.#shared.map(({ target }) => target)
    return [...this.#listed.values(), ...this.#byOrigin.values(), ...shared]
  }

  /** Lists the services that were called last, and the origin of each. */
  origins(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.#byText.values(), ({ service, target }) => [service, target.name]))
  }

  #learn(text: string, url: string): Destination {
    const origin = this.#findOrigin(url) ?? text
    const target = this.#listed.get(origin) ?? this.#byOrigin.get(origin) ?? this.#add(origin)
    // An origin without counters of its own is not remembered, because it may get them later.
    if (target === undefined) return this.#findShared(origin)
    if (this.#byText.size >= TEXTS_MAX) this.#byText.clear()
    const destination = { target, service: readServiceName(url) }
    this.#byText.set(text, destination)
    return destination
  }

  #findShared(origin: string): Destination {
    const destination = this.#shared[textHash(origin) % SHARED_TARGETS]
    assert(destination !== undefined, 'the remainder of a hash is the index of a shared target')
    return destination
  }

  /** Adds an origin. Returns undefined if there is no room for one more. */
  #add(origin: string): Target | undefined {
    if (this.#byOrigin.size >= UNLISTED_TARGETS_MAX && !this.#makeRoom()) return undefined
    const target = new Target(origin)
    this.#byOrigin.set(origin, target)
    return target
  }

  /**
   * Removes the targets that were not looked up since the last sweep. It does so only once in a while, so that new
   * origins cannot push out the others.
   */
  #makeRoom(): boolean {
    const now = this.#now()
    if (now - this.#sweptAt < SWEEP_MS) return false
    this.#sweptAt = now
    for (const [origin, target] of this.#byOrigin) {
      // A target whose calls were ahead of its pace stays, because new counters would let them run ahead again.
      target.isForgotten = !target.isUsed && target.isIdle && target.turnAt <= now
      target.isUsed = false
      if (target.isForgotten) this.#byOrigin.delete(origin)
    }
    return this.#byOrigin.size < UNLISTED_TARGETS_MAX
  }
}

/**
 * Cuts a URL before its path: `https://bank.example:8443/debit?x=1` gives
 * `https://bank.example:8443`, and `bank:/debit` gives `bank:`.
 */
export function cutBeforePath(url: string): string {
  const colon = url.indexOf(':')
  const hasHost = url.charCodeAt(colon + 1) === SLASH && url.charCodeAt(colon + 2) === SLASH
  if (!hasHost) return url.slice(0, colon + 1)
  const slash = url.indexOf('/', colon + 3)
  const end = slash < 0 ? url.length : slash
  const query = url.indexOf('?', colon + 3)
  return url.slice(0, query < 0 ? end : Math.min(end, query))
}

const SLASH = 47
