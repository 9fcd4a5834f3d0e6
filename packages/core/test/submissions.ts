/** Bodies of a submit, and helpers that parse them. */

import type { ErrorCode, Gid } from '@counterstep/protocol'
import type { SagaDefinition } from '../src/definition.ts'
import { newTransaction } from '../src/rules/accept.ts'
import type { UrlRefusal } from '../src/submission/parse-branch.ts'
import {
  type ParsedSubmission,
  parseSubmission,
  type Submission,
  type SubmissionDefaults,
} from '../src/submission/parse-submission.ts'
import type { SagaTransaction } from '../src/transaction.ts'
import { asSaga, CREATED_AT, RETRY } from './sagas.ts'

export const DEFAULTS: SubmissionDefaults = { retry: RETRY, timeoutMs: 10_000, checkpointMs: 1_000 }

/** Checks a URL in a short form of a host's check. */
export function checkUrl(url: string): UrlRefusal | undefined {
  return /^https?:\/\/[a-z0-9.:-]+(\/\S*)?$/i.test(url)
    ? undefined
    : { code: 'SAGA_URL_INVALID', message: 'must be an http or https URL' }
}

export const BRANCH = { action: 'http://bank.test/debit' } as const

/**
 * Parses the body after a round through JSON, so that it has no shared parts and no undefined fields, like every body.
 */
export function parse(body: unknown, defaults: SubmissionDefaults = DEFAULTS): ParsedSubmission {
  return parseSubmission(JSON.parse(JSON.stringify(body)), defaults, checkUrl)
}

export interface SagaSubmission extends Submission {
  readonly definition: SagaDefinition
}

export function accepted(body: unknown, defaults: SubmissionDefaults = DEFAULTS): SagaSubmission {
  const parsed = parse(body, defaults)
  if (parsed.type === 'parsed') {
    const { definition } = parsed.submission
    if (definition.kind === 'saga') return { ...parsed.submission, definition }
    throw new Error(`it is a ${definition.kind}`)
  }
  throw new Error(parsed.faults.map(({ code, path }) => `${code} ${path}`).join(', '))
}

/** Submits the body and returns the saga as it starts. */
export function startSaga(body: unknown): SagaTransaction {
  const ids = { gid: 'order-4711' as Gid, digest: 'd'.repeat(64) }
  return asSaga(newTransaction(accepted(body), ids, CREATED_AT))
}

/** Lists each fault as `CODE path`. The list is empty when the body was accepted. */
export function listFaults(body: unknown): readonly `${ErrorCode} ${string}`[] {
  const parsed = parse(body)
  return parsed.type === 'parsed' ? [] : parsed.faults.map(({ code, path }) => `${code} ${path}` as const)
}

/** Builds a body with one branch that has these fields. */
export function withBranch(fields: Readonly<Record<string, unknown>>) {
  return { branches: [{ ...BRANCH, ...fields }] }
}

/** Builds a body with one branch and these fields beside it. */
export function withFields(fields: Readonly<Record<string, unknown>>) {
  return { branches: [BRANCH], ...fields }
}
