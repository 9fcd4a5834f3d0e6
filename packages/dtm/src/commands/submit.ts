import { randomUUID } from 'node:crypto'
import type { Definition, Transaction } from '@counterstep/core'
import { type Gid, isCounterstepError, type Kind, type TransactionView } from '@counterstep/protocol'
import { refuseStandingJsonRpc } from '../definition/json-rpc.ts'
import { type MessageContext, messageDefinition } from '../definition/message-definition.ts'
import { readNote } from '../definition/note.ts'
import { sagaDefinition } from '../definition/saga-definition.ts'
import { requestDigest, submissionOf, waitMsOf } from '../definition/submission.ts'
import { tccDefinition } from '../definition/tcc-definition.ts'
import { rollbackReason } from '../view/rollback-reason.ts'
import { type Answer, failure, ONGOING, refuse, SUCCESS } from '../wire/answer.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { statusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'
import { nudge } from './nudge.ts'
import { readKind } from './read-kind.ts'

/** Between two looks it may have been prepared, decided or purged by others. */
const LOOKS_MAX = 3

interface Submit {
  readonly gid: Gid
  readonly kind: Kind
  readonly request: DtmRequest
  readonly waitMs: number
}

interface Submitted {
  readonly view: TransactionView
  readonly definition: Definition
}

/** Stores what is new and runs it; submits what is prepared; of what is submitted already nothing is done twice. */
export async function submit(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  const kind = readKind(request.trans_type)
  const gid = readGid(request.gid)
  const asked = { gid, kind, request, waitMs: request.wait_result ? waitMsOf(request) : 0 }
  const outcome = await submitUntilClear(asked, deps)
  if ('status' in outcome) return outcome
  return request.wait_result ? answerToWaiter(outcome.view, outcome.definition) : SUCCESS
}

async function submitUntilClear(asked: Submit, deps: CommandDeps): Promise<Submitted | Answer> {
  // Who prepares is the rule for these, so the look comes first; for the others it would be one round for nothing.
  let isNew = asked.kind === 'saga' || (asked.kind === 'message' && asked.request.query_prepared === '')
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const outcome = isNew ? await submitNew(asked, deps) : await submitStanding(asked, deps)
    if (outcome !== undefined) return outcome
    isNew = !isNew
  }
  throw refuse(`${asked.gid} changes all the time: submit it again`)
}

/** Undefined: the gid is taken. */
async function submitNew(
  { gid, kind, request, waitMs }: Submit,
  deps: CommandDeps,
): Promise<Submitted | undefined> {
  const { engine, takeBytes } = deps
  const definition = await definitionOf(kind, request, deps)
  const submission = submissionOf(gid, request, definition, randomUUID())
  try {
    const view = await engine.accept(submission, { waitMs, untilIdle: true, takeBytes })
    // A TCC that was not prepared has no branches, so it is confirmed as soon as it is stored.
    return {
      definition,
      view: kind === 'tcc' ? await engine.submitPrepared(gid, { waitMs, untilIdle: true }) : view,
    }
  } catch (error: unknown) {
    if (isCounterstepError(error) && error.code === 'SAGA_GID_CONFLICT') return undefined
    throw error
  }
}

function definitionOf(
  kind: Kind,
  request: DtmRequest,
  context: MessageContext,
): Definition | Promise<Definition> {
  switch (kind) {
    case 'saga':
      return sagaDefinition(request, context.checkUrl)
    case 'tcc':
      return tccDefinition(request)
    case 'message':
      return messageDefinition(request, 'submitted', context)
  }
}

/** Undefined: the gid is free. */
async function submitStanding(
  { gid, kind, request, waitMs }: Submit,
  { engine }: CommandDeps,
): Promise<Submitted | Answer | undefined> {
  const standing = await engine.read(gid)
  if (standing === undefined) return undefined
  if (standing.status !== 'prepared' && standing.status !== 'submitted')
    return failure(`current status '${statusWord(standing.status)}', cannot sumbmit.`)
  if (standing.kind !== kind || !isSameRequest(standing, request))
    throw refuse(`${gid} is taken by a transaction with other content`)
  refuseStandingJsonRpc(request.protocol, standing)
  const { definition } = standing
  // Who submits again does not want to wait for what waits.
  if (standing.status === 'submitted') await nudge(gid, engine)
  if (standing.kind === 'saga')
    return { definition, view: await submitAgain(standing, request, waitMs, engine) }
  try {
    return { definition, view: await engine.submitPrepared(gid, { waitMs, untilIdle: true }) }
  } catch (error: unknown) {
    // An abort or the deadline came between: the next look shows it.
    if (isCounterstepError(error) && error.code === 'SAGA_NOT_PREPARED') return failureNow(gid, engine)
    throw error
  }
}

async function failureNow(gid: Gid, engine: CommandDeps['engine']): Promise<Answer | undefined> {
  const view = await engine.get(gid)
  return view === undefined
    ? undefined
    : failure(`current status '${statusWord(view.status)}', cannot sumbmit.`)
}

/** Accepts the same submission again, with the ticket that it was accepted by. So the caller may wait for its end. */
async function submitAgain(
  standing: Transaction,
  request: DtmRequest,
  waitMs: number,
  engine: CommandDeps['engine'],
): Promise<TransactionView> {
  const ticket = readNote(standing.definition)?.ticket ?? ''
  return await engine.accept(submissionOf(standing.gid, request, standing.definition, ticket), {
    waitMs,
    untilIdle: true,
  })
}

/** A prepared one is submitted with what it was prepared with, whatever the second body says, as DTM does. */
function isSameRequest({ kind, definition }: Transaction, request: DtmRequest): boolean {
  if (kind === 'tcc' || (definition.kind === 'message' && definition.check !== undefined)) return true
  return readNote(definition)?.request === requestDigest(request)
}

/**
 * Answers a caller that asked for the result. It sends 409 only for what will not be done: DTM also sends 409 for what
 * goes on, and a client cannot tell the two apart.
 */
function answerToWaiter(view: TransactionView, definition: Definition): Answer {
  switch (view.status) {
    case 'succeeded':
      return SUCCESS
    case 'aborting':
    case 'failed':
    case 'stopped':
      return failure(rollbackReason(view, definition) || 'wait result not return success:')
    case 'prepared':
    case 'submitted':
      return ONGOING
  }
}
