import type { Ask } from '../rules/ask.ts'
import { WatchedPromise } from './watched-promise.ts'

type Executor = ConstructorParameters<typeof WatchedPromise>[0]

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** The promises that the function waits for. Once the plan is answered none of them ends any more. */
export class AskPromises {
  readonly #watched: WatchedPromise[] = []
  readonly #waiting = new Map<Ask, Waiting>()
  readonly #code = new Map<Ask, (id: string) => unknown>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Makes the promise of an ask. Without one, because the plan will be refused, it never ends. */
  add(ask: Ask | undefined, code?: (id: string) => unknown): Promise<unknown> {
    if (ask === undefined) return waitForEver()
    if (code !== undefined) this.#code.set(ask, code)
    return this.#watch((resolve, reject) => this.#waiting.set(ask, { resolve, reject }), [ask])
  }

  /** Makes another value of one that is waited for. */
  derive<Value>(source: Promise<unknown>, convert: (value: unknown) => Value): Promise<Value> {
    const needs = source instanceof WatchedPromise ? [...source.needs] : []
    const settle: Executor = (resolve, reject) => {
      follow(source).then((value) => resolve(convert(value)), reject)
    }
    return this.#watchGroup([source], settle, needs) as Promise<Value>
  }

  /** Waits for each of these, as Promise.all does. */
  addAll(members: readonly unknown[]): Promise<unknown> {
    const needs = members.flatMap((each) => (each instanceof WatchedPromise ? [...each.needs] : []))
    return this.#watchGroup(members, (resolve) => resolve(Promise.all(members.map(follow))), needs)
  }

  /** Waits for the first of these, as Promise.race does, and so needs none of them. */
  addRace(members: readonly unknown[]): Promise<unknown> {
    return this.#watchGroup(members, (resolve) => resolve(Promise.race(members.map(follow))), [])
  }

  /**
   * Says whether the function goes on only when all of several have ended: whatever it awaits needs each of them. Any other
   * promise that it awaits is made of these, or else it waits outside.
   */
  waitForAll(asks: readonly Ask[]): boolean {
    const awaited = this.#watched.filter(({ isAwaited }) => isAwaited)
    return (
      asks.length > 1 &&
      awaited.length > 0 &&
      awaited.every(({ needs }) => asks.every((ask) => needs.has(ask)))
    )
  }

  /** Finds a failure that nothing has waited for: an `await` was forgotten. */
  findUnheardFailure(): { readonly reason: unknown } | undefined {
    for (const { unheardFailure } of this.#watched) if (unheardFailure !== undefined) return unheardFailure
    return undefined
  }

  resolve(ask: Ask, value: unknown): void {
    this.#waiting.get(ask)?.resolve(value)
  }

  reject(ask: Ask, error: Error): void {
    this.#waiting.get(ask)?.reject(error)
  }

  async runCode(ask: Ask): Promise<unknown> {
    return this.#code.get(ask)?.(ask.id)
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
    this.#code.clear()
  }

  #watchGroup(members: readonly unknown[], executor: Executor, needs: readonly Ask[]): WatchedPromise {
    const group = this.#watch(executor, needs)
    for (const member of members) if (member instanceof WatchedPromise) member.joinGroup(group)
    return group
  }

  #watch(executor: Executor, needs: readonly Ask[]): WatchedPromise {
    const promise = new WatchedPromise(executor, new Set(needs))
    this.#watched.push(promise)
    return promise
  }
}

function follow<Member>(member: Member): Member | Promise<unknown> {
  return member instanceof WatchedPromise ? member.follow() : member
}

export function waitForEver<Value = unknown>(): Promise<Value> {
  return new Promise<Value>(() => undefined)
}
