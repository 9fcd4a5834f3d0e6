import type { Connection } from './connection.ts'
import { findOrMake } from './find-or-make.ts'

/**
 * Queues connections, or calls, that wait for a turn. Their holders take turns, so a holder with thousands of them delays
 * another holder by only one.
 */
export class HolderQueue<Member extends { readonly holder: unknown } = Connection> {
  /** The first holder has the next turn. */
  readonly #byHolder = new Map<Member['holder'], Set<Member>>()
  /** It maps each member to the holder that it had when it was added. */
  readonly #holders = new Map<Member, Member['holder']>()

  get size(): number {
    return this.#holders.size
  }

  has(member: Member): boolean {
    return this.#holders.has(member)
  }

  holders(): Iterable<Member['holder']> {
    return this.#byHolder.keys()
  }

  count(holder: Member['holder']): number {
    return this.#byHolder.get(holder)?.size ?? 0
  }

  add(member: Member): void {
    if (this.#holders.has(member)) return
    const { holder } = member
    this.#holders.set(member, holder)
    findOrMake(this.#byHolder, holder, () => new Set<Member>()).add(member)
  }

  delete(member: Member): void {
    if (!this.#holders.has(member)) return
    const holder = this.#holders.get(member)
    this.#holders.delete(member)
    const others = this.#byHolder.get(holder)
    others?.delete(member)
    if (others?.size === 0) this.#byHolder.delete(holder)
  }

  /** Takes the oldest member of the holder whose turn it is. */
  shift(): Member | undefined {
    const [[holder, members] = []] = this.#byHolder
    const [member] = members ?? []
    if (member === undefined || members === undefined) return undefined
    this.delete(member)
    // The holder goes behind all others.
    if (this.#byHolder.delete(holder)) this.#byHolder.set(holder, members)
    return member
  }
}
