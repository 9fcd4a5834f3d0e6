import type { CallConnection } from './connections.ts'

/** So many calls are open at once, over one connection, and from one network. */
export interface OpenCallBounds {
  readonly callsMax: number
  readonly perConnectionMax: number
  readonly perNetworkMax: number
}

/** Bounds calls that stay open, each of which holds its answers in memory. */
export class OpenCalls<Call> {
  readonly #bounds: OpenCallBounds
  readonly #connections = new Map<Call, CallConnection>()

  constructor(bounds: OpenCallBounds) {
    this.#bounds = bounds
  }

  /** Returns false if there is no place for the call. */
  add(call: Call, connection: CallConnection): boolean {
    const { callsMax, perConnectionMax, perNetworkMax } = this.#bounds
    const open = [...this.#connections.values()]
    const hasPlace =
      open.length < callsMax &&
      open.filter((each) => each === connection).length < perConnectionMax &&
      open.filter(({ network }) => network === connection.network).length < perNetworkMax
    if (hasPlace) this.#connections.set(call, connection)
    return hasPlace
  }

  delete(call: Call): void {
    this.#connections.delete(call)
  }

  /** Removes all calls, and returns them. */
  clear(): readonly Call[] {
    const calls = [...this.#connections.keys()]
    this.#connections.clear()
    return calls
  }
}
