import type { Ask } from '../rules/ask.ts'

type Group =
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'all' | 'race'; readonly members: readonly unknown[] }

/**
 * Knows which promises are asks, and which are made of others by `ctx.all` and `ctx.race`. It decides only when to plan
 * again, and never what the function sees: a promise that it does not know makes the next plan come earlier.
 */
export class WaitGroups {
  readonly #groups = new WeakMap<object, Group>()
  readonly #open = new Set<Group>()
  readonly #raced = new Set<Ask>()

  addAsk(promise: object, ask: Ask): void {
    this.#groups.set(promise, { type: 'ask', ask })
  }

  addAll(promise: Promise<unknown>, members: readonly unknown[]): void {
    const group: Group = { type: 'all', members }
    this.#groups.set(promise, group)
    this.#open.add(group)
    const close = (): void => void this.#open.delete(group)
    promise.then(close, close)
  }

  addRace(promise: object, members: readonly unknown[]): void {
    this.#groups.set(promise, { type: 'race', members })
    for (const each of members) for (const ask of this.#findAsks(each)) this.#raced.add(ask)
  }

  /** Says whether one `ctx.all` waits for each of these, and none of them could end a race. */
  waitForAll(asks: ReadonlySet<Ask>): boolean {
    if ([...asks].some((ask) => this.#raced.has(ask))) return false
    return [...this.#open].some((group) => {
      const awaited = new Set(this.#findAsksOf(group, 'all'))
      return [...asks].every((ask) => awaited.has(ask))
    })
  }

  #findAsks(promise: unknown, within?: 'all'): readonly Ask[] {
    const group = typeof promise === 'object' && promise !== null ? this.#groups.get(promise) : undefined
    return group === undefined ? [] : this.#findAsksOf(group, within)
  }

  #findAsksOf(group: Group, within?: 'all'): readonly Ask[] {
    if (group.type === 'ask') return [group.ask]
    if (within !== undefined && group.type !== within) return []
    return group.members.flatMap((each) => this.#findAsks(each, within))
  }
}
