/** Keeps what the code of a workflow is told of a step that has failed: the code, the message and the details. */
import {
  FAILURE_CODE_LENGTH_MAX,
  FAILURE_MESSAGE_LENGTH_MAX,
  JOURNAL_BYTES_MAX,
  type JsonValue,
  mayBeHandedOn,
  type PlanFailure,
} from '@counterstep/protocol'
import type { BranchAnswer } from '../ports/ports.ts'
import { countJournalBytes } from '../rules/workflow-steps.ts'
import { canonicalJson } from '../submission/canonical-json.ts'
import type { OpProgress, WorkflowTransaction } from '../transaction.ts'
import { countBytes } from './count-bytes.ts'
import { JOURNAL_FULL } from './keep-values.ts'

const FAILURE_CODE = 'BRANCH_FAILED'

/** Ends an op with a failure. It is told from the whole answer, so it does not depend on what people are shown of that. */
export function failWithAnswer(
  workflow: WorkflowTransaction,
  progress: OpProgress,
  answer: BranchAnswer,
): OpProgress {
  const failure = JSON.stringify(readFailure(answer))
  const hasRoom = countBytes(failure) <= JOURNAL_BYTES_MAX - countJournalBytes(workflow)
  return { ...progress, state: 'failed', ...(hasRoom ? { failure } : { error: JOURNAL_FULL }) }
}

/** Writes the failure of a step for the journal. A step that was not told one has its error. */
export function writeFailure({ failure, error = '' }: OpProgress): string {
  return failure ?? JSON.stringify({ code: FAILURE_CODE, message: error })
}

/** A service that fails says why in JSON. Anything else that it says is the message. */
function readFailure({ body, excerpt, error = '' }: BranchAnswer): PlanFailure {
  const text = body ?? excerpt ?? error
  const { code, message, details } = parseObject(text)
  if (typeof code !== 'string' || code === '') return { code: FAILURE_CODE, message: cutMessage(text) }
  return {
    code: code.slice(0, FAILURE_CODE_LENGTH_MAX),
    message: typeof message === 'string' ? cutMessage(message) : '',
    ...(mayDeliver(details) ? { details } : {}),
  }
}

function cutMessage(text: string): string {
  return text.slice(0, FAILURE_MESSAGE_LENGTH_MAX)
}

/** A service may say what it likes, and the handler would refuse the whole call for some of it. */
function mayDeliver(details: unknown): details is JsonValue {
  const text = details === undefined ? undefined : canonicalJson(details as JsonValue)
  return text !== undefined && mayBeHandedOn(text)
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    // It is an excerpt, or no JSON.
    return {}
  }
}
