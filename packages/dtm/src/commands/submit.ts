import { randomUUID } from 'node:crypto'
import {
  countBodyCharacters,
  type Definition,
  getBranchTargets,
  hasTwoPhases,
  type Transaction,
} from '@counterstep/core'
import type { WaitOptions } from '@counterstep/engine'
import { type Gid, isCounterstepError, type TransactionView } from '@counterstep/protocol'
import { refuseOtherProtocol } from '../definition/json-rpc.ts'
import { buildMessageDefinition, type MessageContext } from '../definition/message-definition.ts'
import { readNote } from '../definition/note.ts'
import { buildSagaDefinition } from '../definition/saga-definition.ts'
import { buildSubmission, readWaitMs } from '../definition/submission.ts'
import { buildTccDefinition, buildXaDefinition } from '../definition/two-phase-definition.ts'
import { findRollbackReason } from '../view/rollback-reason.ts'
import { type Answer, answerFailure, ONGOING, refuse, SUCCESS } from '../wire/answer.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { type DtmKind, toStatusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'
import { nudge } from './nudge.ts'
import { readKind } from './read-kind.ts'
import { submitWorkflow } from './submit-workflow.ts'
import { holdRequest, toWaitOptions } from './to-wait-options.ts'

/** Another request may prepare, decide or purge the transaction between two tries, so that a try has to start over. */
const TRIES_MAX = 3

interface Submit {
  readonly gid: Gid
  readonly kind: DtmKind
  readonly request: DtmRequest
  readonly wait: WaitOptions
}

interface Submitted {
  readonly view: TransactionView
  readonly definition: Definition
}

/**
 * Stores and runs a new transaction, and submits a prepared one. If the transaction is submitted already, no branch that
 * has succeeded is called again; a branch that waits for its next call is called at once.
 */
export async function submit(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  if (request.trans_type === 'workflow') return await submitWorkflow(request, deps)
  const kind = readKind(request.trans_type)
  const gid = readGid(request.gid)
  const wait = toWaitOptions(request.wait_result ? readWaitMs(request) : 0, deps)
  const asked = { gid, kind, request, wait: holdRequest(wait, request) }
  const outcome = await submitUntilDecided(asked, deps)
  if ('status' in outcome) return outcome
  return request.wait_result ? answerToWaiter(outcome.view, outcome.definition) : SUCCESS
}

/**
 * Answers a caller that asked for the result. It sends 409 only if the transaction will not succeed. DTM also sends 409
 * while the work goes on, so its clients cannot tell the two apart.
 */
function answerToWaiter(view: TransactionView, definition: Definition): Answer {
  switch (view.status) {
    case 'succeeded':
      return SUCCESS
    case 'aborting':
    case 'failed':
    case 'stopped':
      return answerFailure(findRollbackReason(view, definition) || 'wait result not return success:')
    case 'prepared':
    case 'submitted':
      return ONGOING
  }
}

async function submitUntilDecided(asked: Submit, deps: CommandDeps): Promise<Submitted | Answer> {
  // A TCC, XA, and a message with a query-back, has usually been prepared, so the stored one is read first. The others are
  // usually new, so reading first would cost them a request to the store for nothing.
  let isNew = asked.kind === 'saga' || (asked.kind === 'message' && asked.request.query_prepared === '')
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const outcome = isNew ? await submitNew(asked, deps) : await submitStanding(asked, deps)
    if (outcome !== undefined) return outcome
    isNew = !isNew
  }
  throw refuse(`${asked.gid} changes all the time: submit it again`)
}

/** Stores a new transaction. Returns undefined if the gid is taken. */
async function submitNew(
  { gid, kind, request, wait }: Submit,
  deps: CommandDeps,
): Promise<Submitted | undefined> {
  const { engine, takeBytes, trace, caller } = deps
  const definition = await buildDefinition(kind, request, deps)
  const submission = buildSubmission(gid, request, definition, randomUUID())
  try {
    const view = await engine.accept(submission, { ...wait, takeBytes, trace, caller })
    // A TCC or XA that was not prepared has no branches, so it has succeeded as soon as it is stored.
    return {
      definition,
      view: hasTwoPhases(definition) ? await engine.submitPrepared(gid, wait) : view,
    }
  } catch (error: unknown) {
    if (isCounterstepError(error) && error.code === 'SAGA_GID_CONFLICT') return undefined
    throw error
  }
}

function buildDefinition(
  kind: DtmKind,
  request: DtmRequest,
  context: MessageContext,
): Definition | Promise<Definition> {
  switch (kind) {
    case 'saga':
      return buildSagaDefinition(request, context)
    case 'tcc':
      return buildTccDefinition(request, context)
    case 'xa':
      return buildXaDefinition(request, context)
    case 'message':
      return buildMessageDefinition(request, 'submitted', context)
  }
}

/** Submits the transaction that is stored under the gid. Returns undefined if the gid is free. */
async function submitStanding(
  { gid, kind, request, wait }: Submit,
  { engine, caller }: CommandDeps,
): Promise<Submitted | Answer | undefined> {
  const stored = await engine.read(gid, caller)
  if (stored === undefined) return undefined
  if (stored.status !== 'prepared' && stored.status !== 'submitted')
    return answerFailure(`current status '${toStatusWord(stored.status)}', cannot sumbmit.`)
  if (stored.kind !== kind || !isSameRequest(stored, request))
    throw refuse(`${gid} is taken by a transaction with other content`)
  refuseOtherProtocol(request.protocol, stored)
  const { definition } = stored
  // A client that submits again does not want to wait until the back-off is over.
  if (stored.status === 'submitted') await nudge(stored, engine, caller)
  if (stored.kind === 'saga')
    return { definition, view: await submitAgain(stored, request, { ...wait, caller }, engine) }
  try {
    const heldCharacters = (wait.heldCharacters ?? 0) + countBodyCharacters(getBranchTargets(stored))
    return {
      definition,
      view: await engine.submitPrepared(gid, { ...wait, heldCharacters, caller }),
    }
  } catch (error: unknown) {
    // An abort or the deadline came between the read and the submit, so the status is read again for the answer.
    if (isCounterstepError(error) && error.code === 'SAGA_NOT_PREPARED')
      return answerCurrentStatus(gid, engine)
    throw error
  }
}

async function answerCurrentStatus(gid: Gid, engine: CommandDeps['engine']): Promise<Answer | undefined> {
  const view = await engine.get(gid)
  return view === undefined
    ? undefined
    : answerFailure(`current status '${toStatusWord(view.status)}', cannot sumbmit.`)
}

/** Accepts the same submission again, with the ticket of the first time, so that the caller can wait for its end. */
async function submitAgain(
  stored: Transaction,
  request: DtmRequest,
  wait: WaitOptions,
  engine: CommandDeps['engine'],
): Promise<TransactionView> {
  const ticket = readNote(stored.definition)?.ticket ?? ''
  return await engine.accept(buildSubmission(stored.gid, request, stored.definition, ticket), wait)
}

/**
 * Tells whether the request asks for the stored transaction. A prepared transaction runs with the content of its
 * prepare, as in DTM, so the content of its submit does not count.
 */
function isSameRequest({ definition }: Transaction, request: DtmRequest): boolean {
  if (hasTwoPhases(definition) || (definition.kind === 'message' && definition.check !== undefined))
    return true
  return readNote(definition)?.request === request.contentHash
}
