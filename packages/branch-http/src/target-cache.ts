import type { Origin } from './origin.ts'
import { type ParsedUrl, parseTargetUrl } from './request-line.ts'

/** A URL that was parsed once, and the origin that last served it (which may have been closed since). */
export interface Target extends ParsedUrl {
  origin: Origin | undefined
}

/**
 * The last `targetsMax` to `2 × targetsMax` URLs. Two generations in place of a list in order of use: a hit in the
 * young one is a single look-up and moves nothing.
 */
export class TargetCache {
  readonly #targetsMax: number
  #young = new Map<string, Target>()
  #old = new Map<string, Target>()

  constructor(targetsMax: number) {
    this.#targetsMax = targetsMax
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Undefined for a URL that no call may go to; those are not kept. */
  get(url: string): Target | undefined {
    return this.#young.get(url) ?? this.#admit(url)
  }

  #admit(url: string): Target | undefined {
    const target = this.#old.get(url) ?? targetOf(url)
    if (target === undefined) return undefined
    if (this.#young.size >= this.#targetsMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(url, target)
    return target
  }
}

function targetOf(url: string): Target | undefined {
  const parsed = parseTargetUrl(url)
  return parsed && { ...parsed, origin: undefined }
}
