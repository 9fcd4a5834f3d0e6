export const ACCOUNTS = 200
/** So much that no debit of a run ever fails for want of money: failures are drawn, not met. */
export const INITIAL_CENTS = 1_000_000_000

export function accountIds(): readonly string[] {
  return Array.from({ length: ACCOUNTS }, (_, index) => `account-${index + 1}`)
}
