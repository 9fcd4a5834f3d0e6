import {
  AssertionError,
  decodeTransaction,
  describeUnreadable,
  type StoredTransaction,
  viewTransaction,
} from '@counterstep/core'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'

/**
 * Shows a stored row. It is durable, so its status may be shown. A record
 * that cannot be read is shown by its columns alone.
 */
export function viewRow(row: StoredTransaction): TransactionView {
  try {
    return viewTransaction(decodeTransaction(row), row.status)
  } catch (error: unknown) {
    if (!(error instanceof AssertionError)) throw error
    const { gid, kind, status, createdAt, updatedAt, epoch, name, tags } = row
    const attention = `record cannot be read: ${error.message}`
    const { problem } = isFinalStatus(status) ? {} : describeUnreadable(row)
    return {
      ...{ gid, kind, status, createdAt, updatedAt, epoch },
      ...(name === undefined ? {} : { name }),
      ...(tags === undefined ? {} : { tags }),
      ...(problem === undefined ? {} : { problem }),
      ...{ attention, branches: [] },
    }
  }
}
