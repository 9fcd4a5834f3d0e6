import { BranchError, isBranchError } from '../branch/branch-errors.ts'
import type { StatementOrder } from './statement-order.ts'
import { isThenable } from './thenable.ts'

/** A connection that is lent to an effect. */
export interface Lease<Connection> {
  readonly handle: Connection
  /**
   * Ends the lease: the handle then does nothing more. It has to be called before the barrier's last statement is sent, which notices
   * that the transaction was lost until then.
   */
  end(): void
}

/**
 * The property of mysql2's promise statement that holds the raw statement. It is one of the parts that `mysql2-parts`
 * looks for.
 */
export const RAW_STATEMENT = 'statement'

/**
 * The property of a connection of mysql2 that leads to its pool. `pool.releaseConnection` of the pool for callbacks gives back a
 * connection that has it.
 */
const POOL_OF_MYSQL2 = '_pool'

type Call = (...values: unknown[]) => unknown

/** The property under which a handle gives the object that it stands for, also to another copy of this package. */
const STANDS_FOR = Symbol.for('counterstep.lease.stands-for')

/**
 * Returns the object that a handle stands for, and any other object as it is. Use the result only to look at
 * properties, because calls on it are not guarded.
 */
export function unwrapLease<Connection extends object>(handle: Connection): Connection {
  return (Reflect.get(handle, STANDS_FOR) ?? handle) as Connection
}

// Methods of mysql2 and `pg` that return a promise. The caller may handle only its rejection, so an error must not be
// thrown directly.
const PROMISING: ReadonlySet<string | symbol> = new Set([
  'query',
  'execute',
  'beginTransaction',
  'commit',
  'rollback',
  'changeUser',
  'reset',
])
/**
 * Methods that return an object that can write later: a statement of mysql2 (as a promise, or to a callback) or of
 * SQLite, and the transaction function and the tag store of SQLite's drivers.
 */
const LENDING: ReadonlySet<string | symbol> = new Set(['prepare', 'transaction', 'createTagStore'])

/** Methods that send a statement, or make one that can be sent. */
const STATEMENTS: ReadonlySet<string | symbol> = new Set(['query', 'execute', 'prepare'])

/**
 * Methods that give a connection back to its pool. They do nothing on the lent one, because the next borrower would write into the
 * open transaction. Kysely calls `release` after each query.
 */
const RELEASING: ReadonlySet<string | symbol> = new Set(['release', Symbol.dispose, Symbol.asyncDispose])

/**
 * Lends a connection for the time of one effect. When one part of an effect that works in parallel fails, the
 * effect rejects, but its other parts go on; and an effect may return before all of its parts have ended. Without the lease, a statement
 * that they send after the ROLLBACK would be committed at once and without a barrier row, or become part of the next borrower's
 * transaction. The raw connection
 * that a query builder takes out of the lent one (`tx.connection`, `promise()`) is lent in the same way, and so are the
 * statements that it prepares. `order` sees what is sent through them. `noteLate` is called for each statement that is refused because
 * the lease is over.
 */
export function lease<Connection extends object>(
  connection: Connection,
  order?: StatementOrder,
  noteLate?: () => void,
): Lease<Connection> {
  let isOver = false
  const handles = new WeakMap<object, object>()

  const lendIfConnection = (value: unknown): unknown => {
    if (!isObject(value)) return value
    return handles.get(value) ?? (isConnection(value) ? createHandle(value) : value)
  }
  const lendAlways = (value: unknown): unknown => {
    if (isThenable(value)) return value.then(lendAlways)
    return isObject(value) ? createHandle(value) : value
  }

  const call = (method: () => unknown, isPromising: boolean) => {
    try {
      if (isOver) throw toEffectOverError()
      return method()
    } catch (error: unknown) {
      if (isPromising && isBranchError(error)) return Promise.reject(error)
      throw error
    }
  }

  const lend = (owner: object, method: Call, values: readonly unknown[]): unknown => {
    const callback = values.at(-1)
    // SQLite's `transaction` takes a function that is not a callback, and returns a function.
    if (typeof callback !== 'function' || !isConnection(owner))
      return lendAlways(method.apply(owner, [...values]))
    const hand = (error: unknown, statement: unknown) => callback(error, lendAlways(statement))
    return method.apply(owner, [...values.slice(0, -1), hand])
  }

  const guard = (owner: object, key: string | symbol, method: Call) => {
    if (isConnection(owner)) {
      if (RELEASING.has(key)) return keepConnection
      // On a connection of a pool of mysql2 it is another name for `release`.
      if (key === 'end') return refuseEnd
    }
    // The driver's methods run on the connection itself, so the statements that they send inside are not guarded.
    return function guardedMethod(...values: unknown[]): unknown {
      const send = (sent: readonly unknown[]) =>
        LENDING.has(key) ? lend(owner, method, sent) : lendIfConnection(method.apply(owner, [...sent]))
      const run = () => (order === undefined ? send(values) : order.send(key, values, send))
      if (isOver && STATEMENTS.has(key)) noteLate?.()
      return call(run, isPromising(owner, key) && typeof values.at(-1) !== 'function')
    }
  }

  const createHandle = <Raw extends object>(raw: Raw): Raw => {
    const known = handles.get(raw)
    // Each object has only one handle, which is kept under that object.
    if (known !== undefined) return known as Raw
    // A proxy must report the fixed properties of its target as they are, and those of a function may be fixed. So
    // another function stands in its place.
    const shadow = typeof raw === 'function' ? ((() => undefined) as unknown as Raw) : raw
    const handle = new Proxy(shadow, {
      get: (_, key) => {
        if (key === STANDS_FOR) return raw
        if (key === POOL_OF_MYSQL2 && isConnection(raw)) return undefined
        const value: unknown = Reflect.get(raw, key)
        if (key === RAW_STATEMENT) return lendAlways(value)
        // Drizzle asks for the constructor's name.
        return typeof value === 'function' && key !== 'constructor'
          ? guard(raw, key, value as Call)
          : lendIfConnection(value)
      },
      set: (_, key, value: unknown) => Reflect.set(raw, key, value),
      // Calls a transaction function.
      apply: (_, self, values) => {
        const run = (sent: readonly unknown[]) => Reflect.apply(raw as unknown as Call, self, [...sent])
        const send = () => (order === undefined ? run(values) : order.send('apply', values, run))
        return call(send, false)
      },
    })
    handles.set(raw, handle)
    return handle
  }

  return {
    handle: createHandle(connection),
    end: () => {
      isOver = true
    },
  }
}

function keepConnection(): void {
  // The barrier gives the connection back when the transaction is over.
}

function refuseEnd(): never {
  throw new TypeError('the connection belongs to the barrier, so an effect cannot end it')
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isConnection(value: object): boolean {
  return 'query' in value && typeof value.query === 'function'
}

function isPromising(owner: object, key: string | symbol): boolean {
  // The `prepare` of SQLite's drivers returns no promise.
  if (!PROMISING.has(key) && !(key === 'prepare' && isConnection(owner))) return false
  // A connection of mysql2's API for callbacks has a way back to promises.
  return !('promise' in owner && typeof owner.promise === 'function')
}

function toEffectOverError(): BranchError {
  const message =
    'the transaction is over for the effect, but a part of it goes on: wait for all parts, also when one fails'
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}
