import { decodeTransaction, type StoredTransaction, type Transaction } from '@counterstep/core'

/** A row is never changed in place, so what was read of it once holds. */
const READ = new WeakMap<StoredTransaction, Transaction>()

/** Reads the transaction of a row. Many audits read each row that is written. */
export function readRecord(row: StoredTransaction): Transaction {
  const known = READ.get(row)
  if (known !== undefined) return known
  const transaction = decodeTransaction(row)
  READ.set(row, transaction)
  return transaction
}
