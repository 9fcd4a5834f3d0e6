import type { BranchCall, MessageDefinition, PendingAlert, Submission } from '@counterstep/core'
import { ALERT_NAME, type AlertFacts, type BranchId, type Gid, type RetryPolicy } from '@counterstep/protocol'
import type { AlertTarget } from './alert-options.ts'

/** A webhook that is away is asked again after at most five minutes. */
const RETRY: RetryPolicy = { initialMs: 1_000, factor: 2, capMs: 300_000, jitter: 1, limit: null }
const ALERT_TIMEOUT_MS = 10_000

/**
 * Makes the message that tells of an alert, with a branch for each of its targets. It is no request of a client, so it is not
 * checked like one. The content is the alert as it is stored, and not the texts, which newer code may write in other words:
 * so all nodes submit the same. Undefined: none of its targets is configured any more.
 */
export function buildAlertMessage(
  { gid, targets, decidedAt: _, ...facts }: PendingAlert,
  configured: readonly AlertTarget[],
): (Submission & { readonly gid: Gid }) | undefined {
  const told = configured.filter(({ name }) => targets.includes(name))
  if (told.length === 0) return undefined
  const definition: MessageDefinition = {
    kind: 'message',
    name: ALERT_NAME,
    tags: { rule: facts.rule },
    concurrent: true,
    retry: RETRY,
    timeoutMs: ALERT_TIMEOUT_MS,
    checkpointMs: 1_000,
    branches: told.map(({ service, writeBody }, position) => ({
      id: toAlertBranchId(position),
      action: toAlertUrl(service),
      body: writeBody(facts),
      contentType: 'application/json',
      headers: {},
    })),
  }
  return {
    // The gid has no character that a gid may not have.
    gid: gid as Gid,
    ack: 'durable',
    content: JSON.stringify({ alert: facts, targets }),
    definition,
  }
}

interface DirectAlert {
  readonly gid: string
  readonly facts: AlertFacts
  readonly position?: number
  readonly attempt?: number
}

/** Makes the call of one target without a transaction: while there is no store, or for a test. */
export function toAlertCall(
  { service, writeBody }: AlertTarget,
  { gid, facts, position = 0, attempt = 1 }: DirectAlert,
): BranchCall {
  return {
    gid: gid as Gid,
    kind: 'message',
    branchId: toAlertBranchId(position),
    op: 'action',
    attempt,
    epoch: 1,
    acceptedAt: facts.since,
    method: 'POST',
    url: toAlertUrl(service),
    body: writeBody(facts),
    contentType: 'application/json',
    headers: {},
    timeoutMs: ALERT_TIMEOUT_MS,
    wordsCount: false,
  }
}

function toAlertUrl(service: string): string {
  return `${service}:/`
}

function toAlertBranchId(position: number): BranchId {
  return `target${position + 1}` as BranchId
}
