/** Turns a submission into the row that is created and into the transaction that runs. */
import type { Gid } from '@counterstep/protocol'
import { type Definition, hasTwoPhases } from '../definition.ts'
import type { NewTransaction } from '../ports/store.ts'
import { encodeDefinition, NO_PROGRESS, toFormat } from '../record/record.ts'
import type { RunSettings } from '../run/run.ts'
import type { Submission } from '../submission/parse-submission.ts'
import { firstPlan, IDLE, type Transaction, UNDELIVERED, UNTOUCHED } from '../transaction.ts'

export interface AcceptIds {
  readonly gid: Gid
  /** The SHA-256 of the submission's content, in hex. */
  readonly digest: string
  readonly token: string
  readonly writeId: string
}

/**
 * A transaction that waits longer than holdMs for its start gets a row
 * without an owner, which is claimed when it is due.
 */
export function newTransactionRow(
  submission: Submission,
  ids: AcceptIds,
  settings: RunSettings,
): NewTransaction {
  const { definition } = submission
  const { name, tags } = definition
  const dueInMs = waitsMs(definition, settings)
  return {
    ...ids,
    kind: definition.kind,
    status: firstStatus(definition),
    format: toFormat({ definition }),
    definition: encodeDefinition(definition),
    progress: NO_PROGRESS,
    hold: dueInMs === undefined ? { type: 'owned', leaseMs: settings.leaseMs } : { type: 'waiting', dueInMs },
    sentList: dueInMs !== undefined && settings.releaseKeepsSentList ? 'released' : 'held',
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
  }
}

/** Returns `prepared` where the client has a part to do first. */
export function firstStatus(definition: Definition): 'prepared' | 'submitted' {
  if (hasTwoPhases(definition)) return 'prepared'
  if (definition.kind === 'recorded') return 'prepared'
  return definition.kind === 'message' && definition.check !== undefined ? 'prepared' : 'submitted'
}

/**
 * Returns the time from the accept until a node must claim the row. Undefined: the node that accepts it runs it at once.
 * A prepared transaction waits for its client.
 */
export function waitsMs(definition: Definition, { holdMs }: Pick<RunSettings, 'holdMs'>): number | undefined {
  if (hasTwoPhases(definition)) return definition.deadlineMs
  if (definition.kind === 'message' && definition.check !== undefined) return definition.check.afterMs
  if (definition.kind === 'recorded') return definition.retry.initialMs
  const { delayMs = 0 } = definition
  if (delayMs <= holdMs) return undefined
  return definition.kind === 'message' ? delayMs : Math.min(delayMs, definition.deadlineMs ?? delayMs)
}

/** Builds the transaction as it starts. `createdAt` is by the store's clock. */
export function newTransaction(
  { definition }: Pick<Submission, 'definition'>,
  { gid, digest }: Pick<AcceptIds, 'gid' | 'digest'>,
  createdAt: number,
): Transaction {
  const common = {
    gid,
    digest,
    createdAt,
    updatedAt: createdAt,
    epoch: 1,
    sentUnknown: false,
    manualRetries: 0,
    claimsUnanswered: 0,
  }
  switch (definition.kind) {
    case 'saga': {
      const branches = definition.branches.map(() => UNTOUCHED)
      return { ...common, kind: 'saga', status: 'submitted', definition, branches }
    }
    case 'tcc':
      return { ...common, kind: 'tcc', status: 'prepared', definition, registered: [], branches: [] }
    case 'xa':
      return { ...common, kind: 'xa', status: 'prepared', definition, registered: [], branches: [] }
    case 'message': {
      const branches = definition.branches.map(() => UNDELIVERED)
      return {
        ...common,
        kind: 'message',
        status: firstStatus(definition),
        definition,
        check: IDLE,
        branches,
      }
    }
    case 'recorded':
      return {
        ...common,
        kind: 'recorded',
        status: 'prepared',
        definition,
        check: IDLE,
        branches: [],
        records: [],
      }
    case 'workflow': {
      const plan = firstPlan(createdAt + (definition.delayMs ?? 0))
      return {
        ...common,
        kind: 'workflow',
        status: 'submitted',
        definition,
        steps: [],
        branches: [],
        plan,
        order: [],
        seenAt: [],
        ...(definition.grants === undefined ? {} : { granted: definition.grants }),
      }
    }
  }
}
