import { randomBytes } from 'node:crypto'
import type { NewTransaction, TransactionUpdate } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

export function aTransaction(gid: string, change: Partial<NewTransaction> = {}): NewTransaction {
  return {
    gid: gid as Gid,
    kind: 'saga',
    status: 'submitted',
    format: 1,
    digest: '0'.repeat(64),
    definition: '{}',
    progress: '{}',
    token: randomBytes(16).toString('hex'),
    writeId: randomBytes(16).toString('hex'),
    hold: { type: 'owned', leaseMs: 10_000 },
    sentList: 'held',
    ...change,
  }
}

export function makeFinish(transaction: NewTransaction, version = 1): TransactionUpdate {
  return {
    gid: transaction.gid,
    token: transaction.token,
    version,
    writeId: randomBytes(16).toString('hex'),
    status: 'succeeded',
    format: 1,
    progress: '{}',
    retrying: false,
    attention: false,
    hold: { type: 'finish', retentionMs: 'never' },
  }
}
