/** From a submission to the row that is created and the transaction that runs. */
import type { Gid } from '@counterstep/protocol'
import { encodeDefinition, encodeProgress, FORMAT } from './record.ts'
import type { RunSettings } from './run.ts'
import type { NewTransaction } from './store.ts'
import type { Submission } from './submission/parse-submission.ts'
import { type Transaction, UNTOUCHED } from './transaction.ts'

export interface AcceptIds {
  readonly gid: Gid
  /** SHA-256 of the submission's content, in hex. */
  readonly digest: string
  readonly token: string
  readonly writeId: string
}

/** A start further away than holdMs is left to the due index: nobody owns the row until then. */
export function newTransactionRow(
  submission: Submission,
  ids: AcceptIds,
  settings: RunSettings,
): NewTransaction {
  const { definition } = submission
  const { delayMs = 0 } = definition
  const waits = delayMs > settings.holdMs
  return {
    ...ids,
    kind: definition.kind,
    status: 'submitted',
    format: FORMAT,
    definition: encodeDefinition(definition),
    progress: encodeProgress(newTransaction(submission, ids, 0)),
    hold: waits
      ? { type: 'waiting', dueInMs: Math.min(delayMs, definition.deadlineMs ?? delayMs) }
      : { type: 'owned', leaseMs: settings.leaseMs },
    sentList: waits && settings.releaseKeepsSentList ? 'released' : 'held',
  }
}

/** `createdAt` by the store's clock. */
export function newTransaction(
  { definition }: Pick<Submission, 'definition'>,
  { gid, digest }: Pick<AcceptIds, 'gid' | 'digest'>,
  createdAt: number,
): Transaction {
  return {
    gid,
    kind: definition.kind,
    status: 'submitted',
    definition,
    digest,
    createdAt,
    updatedAt: createdAt,
    epoch: 1,
    sentUnknown: false,
    nudges: 0,
    branches: definition.branches.map(() => UNTOUCHED),
  }
}
