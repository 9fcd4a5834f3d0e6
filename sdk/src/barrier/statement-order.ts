import { ForgottenStatements } from './forgotten-statements.ts'
import { isThenable } from './thenable.ts'

/** Sees each call of an effect before its driver does. */
export interface StatementOrder {
  /** Calls a method of a lent connection, or of what it has lent. */
  send(
    method: string | symbol,
    values: readonly unknown[],
    call: (values: readonly unknown[]) => unknown,
  ): unknown
  /**
   * Tells right before COMMIT whether a statement has failed that nothing waited for. Absent: the database itself refuses to commit
   * where a statement has failed.
   */
  hasForgotten?(): boolean
}

/** Methods of mysql2 that send one statement. */
const SENDING: ReadonlySet<string | symbol> = new Set(['query', 'execute'])
/** This method of mysql2 makes a statement that may be sent at any time later. */
const PREPARING = 'prepare'

export interface StatementWatch {
  /** Is called once, before the first statement is sent while an earlier one is under way or has failed. */
  beforeUnordered(): void
  /** Is called with what a statement was answered. */
  noteAnswer(answer: unknown): void
}

/** The answers to a prepared statement may come at any time later, so `prepare` counts as a statement that is under way. */
export function watchOrder({ beforeUnordered, noteAnswer }: StatementWatch): StatementOrder {
  const forgotten = new ForgottenStatements()
  let isOrdered = true
  let isUnderWay = false
  const succeed = (answer: unknown): void => {
    isUnderWay = false
    noteAnswer(answer)
  }
  const notePromised = (answer: unknown): unknown => {
    succeed(Array.isArray(answer) ? answer[0] : answer)
    return answer
  }
  return {
    hasForgotten: () => forgotten.hasAny(),
    send: (method, values, call) => {
      const isPreparing = method === PREPARING
      if (!(isPreparing || SENDING.has(method))) return call(values)
      if (isOrdered && (isPreparing || isUnderWay)) {
        isOrdered = false
        beforeUnordered()
      }
      if (isPreparing) return call(values)
      // It stays under way when it fails, so that the next one is unordered. So does one that is told by events: its object has a
      // `then` that throws.
      isUnderWay = true
      const callback = values.at(-1)
      if (isCallback(callback)) return call([...values.slice(0, -1), noteSuccess(callback, succeed)])
      const answer = call(values)
      if (!isThenable(answer) || 'on' in answer) return answer
      const told = answer.then(notePromised)
      // A pool may have promises of another library, whose own methods effects call.
      return told instanceof Promise ? forgotten.watch(told) : told
    },
  }
}

type Callback = (...answer: unknown[]) => unknown

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

function noteSuccess(callback: Callback, succeed: (answer: unknown) => void): Callback {
  return (error: unknown, ...answer: unknown[]): unknown => {
    if (error === null || error === undefined) succeed(answer[0])
    return callback(error, ...answer)
  }
}
