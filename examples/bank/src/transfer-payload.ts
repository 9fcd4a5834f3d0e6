export const SLOW_MS_MAX = 60_000
export const AMOUNT_CENTS_MAX = 1_000_000_000_000

/** The JSON that all four routes take. */
export interface TransferPayload {
  readonly account: string
  readonly amountCents: number
  /** For demonstrations and tests: the bank takes so long before it looks at the account. */
  readonly slowMs: number
}

export function readTransferPayload(body: unknown): TransferPayload | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { account, amountCents, slowMs = 0 } = body as Readonly<Record<string, unknown>>
  if (typeof account !== 'string' || account.length < 1 || account.length > 64) return undefined
  if (!isWholeWithin(amountCents, 1, AMOUNT_CENTS_MAX) || !isWholeWithin(slowMs, 0, SLOW_MS_MAX))
    return undefined
  return { account, amountCents, slowMs }
}

function isWholeWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}
