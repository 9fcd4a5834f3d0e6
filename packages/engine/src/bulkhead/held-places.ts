import { countBytePlaces } from './count-row-places.ts'
import type { Pool } from './pool.ts'
import type { Target } from './target.ts'

/**
 * The places of one transaction at the targets that it waits for. At each target it takes one place, or more if it is
 * large, however many of its calls go there. It keeps them from its first call until its last call has a definite
 * answer; a call that is made again within `holdMs` keeps them, too. Requests that are built from values take further
 * places while they are under way, because a small saga may have many large ones at the same time. While it waits in
 * memory for a place at a target, it is counted among the waiting ones. `clear` gives all places back, once and for
 * good.
 */
export class HeldPlaces {
  readonly #pool: Pool
  readonly #waiters: Pool
  /** The number of places that it takes at each target. */
  #places: number
  /** The first target, which is nearly always the only one. */
  #first: Target | undefined
  #firstCount = 0
  #others: Map<Target, number> | undefined
  /** The bytes of the requests under way that are built from values. */
  #builtBytes: Map<Target, number> | undefined
  /** A target whose last answer was not definite. */
  #waitsFor: Target | undefined
  /** The target at which it waits in memory for room, and counts as one that waits there. */
  #waitsForRoomAt: Target | undefined
  /** Says when it first found no place at some target, by the node's clock. */
  #noRoomSince: number | undefined
  #isCleared = false

  constructor(pool: Pool, waiters: Pool, places = 1) {
    this.#pool = pool
    this.#waiters = waiters
    this.#places = places
  }

  /**
   * Takes the places for a call, of whose request so many bytes are built from values. Returns false, and takes none, if
   * there is no place for this target.
   */
  enter(target: Target, builtBytes = 0): boolean {
    if (this.#isCleared) return true
    const needsPlace = this.#readCount(target) === 0 || this.#countMorePlaces(target, builtBytes) > 0
    if (needsPlace && !this.#pool.mayGoOn(target)) return false
    this.#add(target)
    this.#addBuilt(target, builtBytes)
    if (this.#noRoomSince !== undefined) this.#endWait()
    return true
  }

  /** The target whose last answer was not definite, so that a call of it is made again. */
  get waitsFor(): Target | undefined {
    return this.#waitsFor
  }

  /** Returns for how long it has found no place. */
  measureNoRoomMs(now: number): number {
    this.#noRoomSince ??= now
    return now - this.#noRoomSince
  }

  /**
   * Begins to wait for a place. Returns false if too many wait for this target
   * already. A transaction waits at one target at a time.
   */
  waitForRoom(target: Target): boolean {
    if (this.#isCleared || this.#waitsForRoomAt !== undefined) return true
    if (!this.#waiters.mayGoOn(target)) return false
    this.#waiters.take(target, this.#places)
    this.#waitsForRoomAt = target
    return true
  }

  /** Ends a call. It must come once for each call that has entered, with the bytes that it has entered with. */
  leave(target: Target, isDefinite: boolean, builtBytes = 0): void {
    if (this.#isCleared) return
    this.#addBuilt(target, -builtBytes)
    const before = this.#waitsFor
    if (isDefinite) {
      if (before === target) {
        this.#waitsFor = undefined
        this.#remove(target)
      }
    } else if (before !== target) {
      this.#waitsFor = target
      this.#add(target)
      if (before !== undefined) this.#remove(before)
    }
    this.#remove(target)
  }

  /** Ends a call that has entered and is not made after all. */
  withdraw(target: Target, builtBytes = 0): void {
    if (this.#isCleared) return
    this.#addBuilt(target, -builtBytes)
    this.#remove(target)
  }

  /** Takes more places at each target where it has some, because the transaction has become larger. */
  grow(places: number): void {
    const more = places - this.#places
    if (this.#isCleared || more <= 0) return
    this.#places = places
    if (this.#first !== undefined) this.#pool.take(this.#first, more)
    if (this.#others !== undefined) for (const target of this.#others.keys()) this.#pool.take(target, more)
    if (this.#waitsForRoomAt !== undefined) this.#waiters.take(this.#waitsForRoomAt, more)
  }

  clear(): void {
    if (this.#isCleared) return
    this.#isCleared = true
    this.#endWait()
    if (this.#first !== undefined) this.#pool.give(this.#first, this.#places)
    if (this.#others !== undefined)
      for (const target of this.#others.keys()) this.#pool.give(target, this.#places)
    if (this.#builtBytes !== undefined)
      for (const [target, bytes] of this.#builtBytes) this.#pool.give(target, countBytePlaces(bytes))
    this.#first = undefined
    this.#others = undefined
    this.#builtBytes = undefined
    this.#waitsFor = undefined
  }

  #endWait(): void {
    this.#noRoomSince = undefined
    if (this.#waitsForRoomAt !== undefined) this.#waiters.give(this.#waitsForRoomAt, this.#places)
    this.#waitsForRoomAt = undefined
  }

  #countMorePlaces(target: Target, moreBytes: number): number {
    if (moreBytes === 0) return 0
    const bytes = this.#builtBytes?.get(target) ?? 0
    return countBytePlaces(bytes + moreBytes) - countBytePlaces(bytes)
  }

  #addBuilt(target: Target, moreBytes: number): void {
    if (moreBytes === 0) return
    this.#pool.take(target, this.#countMorePlaces(target, moreBytes))
    this.#builtBytes ??= new Map()
    const bytes = (this.#builtBytes.get(target) ?? 0) + moreBytes
    if (bytes === 0) this.#builtBytes.delete(target)
    else this.#builtBytes.set(target, bytes)
  }

  #readCount(target: Target): number {
    return this.#first === target ? this.#firstCount : (this.#others?.get(target) ?? 0)
  }

  #add(target: Target): void {
    if (this.#first === target) {
      this.#firstCount++
      return
    }
    const count = this.#others?.get(target) ?? 0
    if (count === 0) this.#pool.take(target, this.#places)
    if (this.#first === undefined && count === 0) {
      this.#first = target
      this.#firstCount = 1
      return
    }
    this.#others ??= new Map()
    this.#others.set(target, count + 1)
  }

  #remove(target: Target): void {
    if (this.#first === target) {
      this.#firstCount--
      if (this.#firstCount > 0) return
      this.#first = undefined
    } else {
      const count = this.#others?.get(target) ?? 0
      if (count > 1) {
        this.#others?.set(target, count - 1)
        return
      }
      this.#others?.delete(target)
    }
    this.#pool.give(target, this.#places)
  }
}
