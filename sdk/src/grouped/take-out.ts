/**
 * A result of `apply` for a call that failed after something of it had been written.
 *
 * @example
 * ```ts
 * const result: TakenOut = takeOut(new BranchFailure('no seat left'))
 * ```
 */
export interface TakenOut {
  /** This mark tells the result from an answer, even if two copies of this package are loaded. */
  readonly groupResult: 'taken-out'
  readonly error: Error
}

/**
 * Makes the result of a call that failed after it had written. This costs one more transaction for the other calls and
 * one for this call, which then runs by itself and is answered by the outcome of that run. If nothing of the call has
 * been written, return the error itself instead.
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
