import { isThenable } from './thenable.ts'

/** Sees each call of an effect before its driver does. */
export interface StatementOrder {
  /** Calls a method of a lent connection, or of what it has lent. */
  send(
    method: string | symbol,
    values: readonly unknown[],
    call: (values: readonly unknown[]) => unknown,
  ): unknown
}

/** Methods of mysql2 that send one statement. */
const SENDING: ReadonlySet<string | symbol> = new Set(['query', 'execute'])
/** This method of mysql2 makes a statement that may be sent at any time later. */
const PREPARING = 'prepare'

/**
 * Calls `beforeUnordered` once, before the first statement is sent while an earlier one is under way or has failed. The answers to a
 * prepared statement are not seen here, so `prepare` counts as such a statement.
 */
export function watchOrder(beforeUnordered: () => void): StatementOrder {
  let isOrdered = true
  let isUnderWay = false
  const succeed = (): void => {
    isUnderWay = false
  }
  const noteAnswer = (answer: unknown): unknown => {
    succeed()
    return answer
  }
  return {
    send: (method, values, call) => {
      const isPreparing = method === PREPARING
      if (!isOrdered || !(isPreparing || SENDING.has(method))) return call(values)
      if (isPreparing || isUnderWay) {
        isOrdered = false
        beforeUnordered()
        return call(values)
      }
      // It stays under way when it fails, so that the next one is unordered. So does one that is told by events: its object has a
      // `then` that throws.
      isUnderWay = true
      const callback = values.at(-1)
      if (isCallback(callback)) return call([...values.slice(0, -1), noteSuccess(callback, succeed)])
      const answer = call(values)
      return isThenable(answer) && !('on' in answer) ? answer.then(noteAnswer) : answer
    },
  }
}

type Callback = (...answer: unknown[]) => unknown

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

function noteSuccess(callback: Callback, succeed: () => void): Callback {
  return (error: unknown, ...answer: unknown[]): unknown => {
    if (error === null || error === undefined) succeed()
    return callback(error, ...answer)
  }
}
