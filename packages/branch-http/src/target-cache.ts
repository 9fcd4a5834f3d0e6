import { copyText } from '@counterstep/protocol'
import type { AnyAttempt, CallerOrigins } from './caller-origins.ts'
import type { ErrorWord } from './error-word.ts'
import type { Origin } from './origin.ts'
import type { TargetPolicy } from './targets/target-policy.ts'

/** Holds the parts of a URL that calls need, and the origin that last served it, which may have been closed since. */
export type Target<Parsed> = Parsed & { origin: Origin<AnyAttempt> | undefined }

/**
 * Finds the origin of a target for a call that begins, and keeps it in the target for the next one. Returns undefined while there is no
 * room for it.
 */
export function useOrigin(
  target: Target<{ readonly originKey: string }>,
  origins: CallerOrigins['origins'],
  now: number,
): Origin<AnyAttempt> | undefined {
  let origin = target.origin
  if (origin === undefined || origin.isClosed) {
    origin = origins.get(target.originKey, now)
    target.origin = origin
  }
  if (origin !== undefined) origin.usedAt = now
  return origin
}

type UncalledWord = Extract<ErrorWord, 'bad-url' | 'denied-target'>

/**
 * Holds the URLs that were called last, at least `targetsMax` and at most twice as many. They are in two generations and
 * not in a list in the order of their use, because a URL of the young generation is then found without moving anything.
 */
export class TargetCache<Parsed extends object> {
  readonly #targetsMax: number
  readonly #resolve: TargetPolicy['resolve']
  readonly #parse: (url: URL, text: string) => Parsed
  #young = new Map<string, Target<Parsed>>()
  #old = new Map<string, Target<Parsed>>()

  /** `parse` is given a URL and the text that was resolved to it. */
  constructor(
    targetsMax: number,
    resolve: TargetPolicy['resolve'],
    parse: (url: URL, text: string) => Parsed,
  ) {
    this.#targetsMax = targetsMax
    this.#resolve = resolve
    this.#parse = parse
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Returns the reason for a URL that must not be called. Such URLs are not kept. */
  get(url: string): Target<Parsed> | UncalledWord {
    return this.#young.get(url) ?? this.#admit(url)
  }

  #admit(url: string): Target<Parsed> | UncalledWord {
    const target = this.#old.get(url) ?? this.#findTarget(url)
    if (typeof target === 'string') return target
    if (this.#young.size >= this.#targetsMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(copyText(url), target)
    return target
  }

  #findTarget(given: string): Target<Parsed> | UncalledWord {
    const text = copyText(given)
    const url = this.#resolve(text)
    if (url instanceof URL) return { ...this.#parse(url, text), origin: undefined }
    return url.code === 'SAGA_URL_INVALID' ? 'bad-url' : 'denied-target'
  }
}
