import { BranchError } from '../branch/branch-errors.ts'
import { isThenable } from './thenable.ts'

/** A connection as an effect is given it. */
export interface Lease<Connection> {
  readonly handle: Connection
  /** From now on the handle does nothing more. To be called before the COMMIT or the ROLLBACK is sent. */
  end(): void
}

type Call = (...values: unknown[]) => unknown

/** Under which a handle tells what it stands for, also to another copy of this package. */
const STANDS_FOR = Symbol.for('counterstep.lease.stands-for')

/** What a handle stands for; anything else stands for itself. Only to be looked at: what is asked of it nobody guards. */
export function unwrapLease<Connection extends object>(handle: Connection): Connection {
  return (Reflect.get(handle, STANDS_FOR) ?? handle) as Connection
}

// What mysql2 and `pg` answer with a promise that somebody may only have a `catch` on.
const PROMISING: ReadonlySet<string | symbol> = new Set(['query', 'execute'])
/**
 * What returns something to write by later: a statement of mysql2 (as a promise, or to a callback) and of SQLite, and the
 * transaction function and the tag store of SQLite's drivers.
 */
const LENDING: ReadonlySet<string | symbol> = new Set(['prepare', 'transaction', 'createTagStore'])
/** Under which mysql2's promise statement holds the raw one. */
const RAW_STATEMENT = 'statement'

/**
 * Lends a connection for the time of one transaction. An effect that works in parallel rejects with its first part,
 * and the others go on: what they sent after the ROLLBACK would be committed at once, without a row, or in the
 * transaction of whoever has the connection then. The raw connection that a query builder takes out of it
 * (`tx.connection`, `promise()`) is lent likewise, and so are the statements that are prepared by it.
 */
export function lease<Connection extends object>(connection: Connection): Lease<Connection> {
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

  const call = (key: string | symbol | undefined, method: () => unknown, values: readonly unknown[]) => {
    if (!isOver) return method()
    const error = toEffectOverError()
    if (key !== undefined && PROMISING.has(key) && typeof values.at(-1) !== 'function') {
      return Promise.reject(error)
    }
    throw error
  }

  const lend = (owner: object, method: Call, values: readonly unknown[]): unknown => {
    const callback = values.at(-1)
    // A transaction function of SQLite is given a function that is no callback, and returns one.
    if (typeof callback !== 'function' || !isConnection(owner))
      return lendAlways(method.apply(owner, [...values]))
    const hand = (error: unknown, statement: unknown) => callback(error, lendAlways(statement))
    return method.apply(owner, [...values.slice(0, -1), hand])
  }

  const guard = (owner: object, key: string | symbol, method: Call) =>
    // The driver's methods get the connection itself: what they do inside is theirs.
    function guardedMethod(...values: unknown[]): unknown {
      const run = () =>
        LENDING.has(key) ? lend(owner, method, values) : lendIfConnection(method.apply(owner, values))
      return call(key, run, values)
    }

  const createHandle = <Raw extends object>(raw: Raw): Raw => {
    const known = handles.get(raw)
    // Kept under the object that it stands for.
    if (known !== undefined) return known as Raw
    // In place of a function, whose properties may be fixed: a proxy would have to give them as they are.
    const shadow = typeof raw === 'function' ? ((() => undefined) as unknown as Raw) : raw
    const handle = new Proxy(shadow, {
      get: (_, key) => {
        if (key === STANDS_FOR) return raw
        const value: unknown = Reflect.get(raw, key)
        if (key === RAW_STATEMENT) return lendAlways(value)
        // Drizzle asks for the constructor's name.
        return typeof value === 'function' && key !== 'constructor'
          ? guard(raw, key, value as Call)
          : lendIfConnection(value)
      },
      set: (_, key, value: unknown) => Reflect.set(raw, key, value),
      // Of a transaction function.
      apply: (_, self, values) =>
        call(undefined, () => Reflect.apply(raw as unknown as Call, self, values), values),
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

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isConnection(value: object): boolean {
  return 'query' in value && typeof value.query === 'function'
}

function toEffectOverError(): BranchError {
  const message =
    'the transaction is over, but a part of the effect goes on: wait for all parts, also when one fails'
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}
