// biome-ignore lint/suspicious/noExplicitAny: as of an EventEmitter, whose events have arguments of any kind
export type Listener = (...given: any[]) => void

/** The part of an EventEmitter that fastify asks of a request and a response, made for a handful of listeners. */
export class Listeners {
  #listeners: { readonly event: string; readonly listener: Listener; readonly isOnce: boolean }[] = []

  on(event: string, listener: Listener): this {
    this.#listeners.push({ event, listener, isOnce: false })
    return this
  }

  once(event: string, listener: Listener): this {
    this.#listeners.push({ event, listener, isOnce: true })
    return this
  }

  off(event: string, listener: Listener): this {
    this.#listeners = this.#listeners.filter((known) => known.event !== event || known.listener !== listener)
    return this
  }

  removeListener(event: string, listener: Listener): this {
    return this.off(event, listener)
  }

  emit(event: string, ...given: readonly unknown[]): boolean {
    if (this.#listeners.length === 0) return false
    const heard = this.#listeners.filter((known) => known.event === event)
    for (const { listener, isOnce } of heard) {
      if (isOnce) this.off(event, listener)
      listener.apply(this, [...given])
    }
    return heard.length > 0
  }
}
