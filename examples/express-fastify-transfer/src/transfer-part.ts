/** One service's part of a transfer: the payload of its branch. */
export interface TransferPart {
  readonly account: string
  readonly cents: number
}

/**
 * Reads the payload. An error is answered 422 and the call is asked again: a payload that makes no sense is a bug,
 * not a business failure.
 */
export function parseTransferPart(payload: unknown): TransferPart {
  if (typeof payload !== 'object' || payload === null) throw new TypeError('the payload must be an object')
  const { account, cents } = payload as Readonly<Record<string, unknown>>
  if (typeof account !== 'string' || account === '') throw new TypeError('account must be a text')
  if (typeof cents !== 'number' || !Number.isSafeInteger(cents) || cents <= 0) {
    throw new TypeError('cents must be a whole number above 0')
  }
  return { account, cents }
}
