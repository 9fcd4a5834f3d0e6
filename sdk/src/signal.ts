declare const PAYLOAD: unique symbol

/**
 * The name of a signal with what it carries: what {@link signal} returns. A saga waits for it, and `client.signal` sends
 * it.
 *
 * @example
 * ```ts
 * const approval: Signal<{ by: string }> = signal('approval')
 * ```
 */
export interface Signal<Payload> {
  readonly name: string
  readonly [PAYLOAD]?: Payload
}

/**
 * Names what a saga can wait for, such as an approval, with the type of what it carries. The same value is given to the
 * saga's `signal` and to `client.signal`, so that both agree on the payload.
 *
 * @example
 * ```ts
 * const approval = signal<{ by: string }>('approval')
 * const order = saga({ gid: 'order-17' }).signal('approved', approval, { timeoutMs: 3_600_000 })
 * await client.submit(order)
 * await client.signal('order-17', approval, { by: 'kim' })
 * ```
 */
export function signal<Payload = void>(name: string): Signal<Payload> {
  return { name }
}
