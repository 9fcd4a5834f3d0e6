import { randomBytes } from 'node:crypto'
import type { NewTransaction, TransactionUpdate } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

export function asGid(text: string): Gid {
  return text as Gid
}

export function drawToken(): string {
  return randomBytes(16).toString('hex')
}

export function makeGids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `t-${i}`)
}

export function aTransaction(gid: string, change: Partial<NewTransaction> = {}): NewTransaction {
  return {
    gid: asGid(gid),
    kind: 'saga',
    status: 'submitted',
    format: 1,
    digest: '0'.repeat(64),
    definition: '{}',
    progress: '{}',
    token: drawToken(),
    writeId: drawToken(),
    hold: { type: 'owned', leaseMs: 10_000 },
    sentList: 'held',
    ...change,
  }
}

export function makeUpdate(
  { gid, token }: Pick<NewTransaction, 'gid' | 'token'>,
  change: Partial<TransactionUpdate> = {},
): TransactionUpdate {
  return {
    gid,
    token,
    version: 1,
    writeId: drawToken(),
    status: 'submitted',
    format: 1,
    progress: '{}',
    retrying: false,
    attention: false,
    hold: { type: 'keep' },
    ...change,
  }
}
