import { BranchError } from '../branch/branch-errors.ts'

/** A connection as an effect is given it. */
export interface Lease<Connection> {
  readonly handle: Connection
  /** From now on the handle does nothing more. To be called before the COMMIT or the ROLLBACK is sent. */
  end(): void
}

// What mysql2 and `pg` answer with a promise that somebody may only have a `catch` on.
const PROMISING: ReadonlySet<string | symbol> = new Set(['query', 'execute'])

/**
 * Lends a connection for the time of one transaction. An effect that works in parallel rejects with its first part,
 * and the others go on: what they sent after the ROLLBACK would be committed at once, without a row, or in the
 * transaction of whoever has the connection then. The raw connection that a query builder takes out of it
 * (`tx.connection`, `promise()`) is lent likewise.
 */
export function lease<Connection extends object>(connection: Connection): Lease<Connection> {
  let isOver = false
  const handles = new WeakMap<object, object>()

  const lent = (value: unknown): unknown => (isConnection(value) ? handleOf(value) : value)

  const guarded = (owner: object, key: string | symbol, method: (...values: unknown[]) => unknown) =>
    function call(...values: unknown[]): unknown {
      // The driver's methods get the connection itself: what they do inside is theirs.
      if (!isOver) return lent(method.apply(owner, values))
      const error = effectIsOver()
      if (PROMISING.has(key) && typeof values.at(-1) !== 'function') return Promise.reject(error)
      throw error
    }

  const handleOf = <Raw extends object>(raw: Raw): Raw => {
    const known = handles.get(raw)
    // Kept under the object that it stands for.
    if (known !== undefined) return known as Raw
    const handle = new Proxy(raw, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        // Drizzle asks for the constructor's name.
        return typeof value === 'function' && key !== 'constructor'
          ? guarded(target, key, value as (...values: unknown[]) => unknown)
          : lent(value)
      },
      set: (target, key, value: unknown) => Reflect.set(target, key, value),
    })
    handles.set(raw, handle)
    return handle
  }

  return {
    handle: handleOf(connection),
    end: () => {
      isOver = true
    },
  }
}

function isConnection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}

function effectIsOver(): BranchError {
  const message =
    'the transaction is over, but a part of the effect goes on: wait for all parts, also when one fails'
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}
