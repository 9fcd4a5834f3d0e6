import type { AnyAttempt } from './caller-origins.ts'
import type { ErrorWord } from './error-word.ts'
import type { Origin } from './origin.ts'
import { type ParsedUrl, toParsedUrl } from './request-line.ts'
import type { TargetPolicy } from './targets/target-policy.ts'

/** Holds a parsed URL and the origin that last served it, which may have been closed since. */
export interface Target extends ParsedUrl {
  origin: Origin<AnyAttempt> | undefined
}

type UncalledWord = Extract<ErrorWord, 'bad-url' | 'denied-target'>

/**
 * Holds the URLs that were called last, at least `targetsMax` and at most twice as many. They are in two generations and
 * not in a list in the order of their use, because a URL of the young generation is then found without moving anything.
 */
export class TargetCache {
  readonly #targetsMax: number
  readonly #resolve: TargetPolicy['resolve']
  #young = new Map<string, Target>()
  #old = new Map<string, Target>()

  readonly #isWhole: (url: string) => boolean

  constructor(targetsMax: number, resolve: TargetPolicy['resolve'], isWhole = (_url: string) => false) {
    this.#targetsMax = targetsMax
    this.#resolve = resolve
    this.#isWhole = isWhole
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Returns the reason for a URL that must not be called. Such URLs are not kept. */
  get(url: string): Target | UncalledWord {
    return this.#young.get(url) ?? this.#admit(url)
  }

  #admit(url: string): Target | UncalledWord {
    const target = this.#old.get(url) ?? this.#findTarget(url)
    if (typeof target === 'string') return target
    if (this.#young.size >= this.#targetsMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(url, target)
    return target
  }

  #findTarget(text: string): Target | UncalledWord {
    const url = this.#resolve(text)
    if (url instanceof URL) return { ...toParsedUrl(url, this.#isWhole(text)), origin: undefined }
    return url.code === 'SAGA_URL_INVALID' ? 'bad-url' : 'denied-target'
  }
}
