/**
 * A result of `apply` for a call that failed after something of it had been written.
 *
 * @example
 * ```ts
 * const result: TakenOut = takeOut(new BranchFailure('no seat left'))
 * ```
 */
export interface TakenOut {
  /** Marks the result, so that it is told from an answer also across two copies of this package. */
  readonly groupResult: 'taken-out'
  readonly error: Error
}

/**
 * Makes the result of a call that failed after it had written. It costs one more transaction for the others and one
 * for the call, which then runs by itself and is answered by what becomes of it there; return the error as it is if
 * nothing of the call has been written.
 *
 * @example
 * ```ts
 * const [done] = await tx.execute<ResultSetHeader>(reserve, [entry.seat])
 * results.push(done.affectedRows === 1 ? undefined : takeOut(new BranchFailure('the seat is taken')))
 * ```
 */
export function takeOut(error: Error): TakenOut {
  if (!(error instanceof Error)) throw new TypeError('takeOut needs an Error')
  return { groupResult: 'taken-out', error }
}

export function isTakenOut(result: unknown): result is TakenOut {
  return (
    typeof result === 'object' &&
    result !== null &&
    'groupResult' in result &&
    result.groupResult === 'taken-out' &&
    'error' in result &&
    result.error instanceof Error
  )
}
