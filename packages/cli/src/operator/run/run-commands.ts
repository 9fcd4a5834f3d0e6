import { randomUUID } from 'node:crypto'
import {
  OPERATOR_COMMANDS,
  type OperatorCommand,
  type OpView,
  type PayloadValue,
  type PreviewRequest,
  type RetryPolicy,
  type TransactionView,
} from '@counterstep/protocol'
import { type CommandOptions, type EditOptions, isUnavailable, type OpName } from '@counterstep/sdk/operator'
import { readOp, toInstant } from '../line/option-texts.ts'
import { cleanJson, cleanLine } from '../print/clean-text.ts'
import { describeStatus } from '../print/status-words.ts'
import type { Changes } from '../print/write-changes.ts'
import { writePlan } from '../print/write-plan.ts'
import { writeWhy } from '../print/write-transaction.ts'
import { agree, readWaiting } from './agree.ts'
import { ANSWER_WAIT_MS, awaitAnswer, findDueCall } from './await-answer.ts'
import type { OperatorContext } from './operator-context.ts'
import { NotGivenError } from './operator-errors.ts'
import { dropUndefined, readContent, readJson, readPairs, readValue } from './read-values.ts'

export async function runPreview(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const [gid = '', word = ''] = line.places
  const command = OPERATOR_COMMANDS.find((each) => each === word)
  if (command === undefined)
    throw new NotGivenError(`The COMMAND must be one of ${OPERATOR_COMMANDS.join(', ')}.`)
  const op = readOp(readValue(line, 'op') ?? '')
  const doneBy = readDoneBy(readValue(line, 'done-by'))
  const until = readUntil(line, operator.now())
  const isOneOp = command === 'retry' && op !== undefined
  const asked = { command: isOneOp ? 'retry-op' : command, ...dropUndefined({ op, doneBy, until }) } as const
  const plan = await operator.preview(gid, asked, { signal })
  if (line.output === 'json') {
    print(cleanJson(plan, 2))
    return
  }
  const view = await readWaiting(context, gid, plan)
  for (const text of writePlan(plan, { gid, command, view }, operator.now())) print(text)
}

export async function runRetry(context: OperatorContext): Promise<void> {
  const { operator, line } = context
  const op = readOp(readValue(line, 'op') ?? '')
  if (op === undefined) {
    await give(context, { command: 'retry' }, (gid, given) => operator.retry(gid, given))
  } else {
    await give(context, { command: 'retry-op', op }, (gid, given) => operator.retryOp(gid, op, given))
  }
}

export async function runPause(context: OperatorContext): Promise<void> {
  const { operator, line } = context
  const until = readUntil(line, operator.now())
  const timed = until === undefined ? {} : { until }
  await give(context, { command: 'pause', ...timed }, (gid, given) =>
    operator.pause(gid, { ...given, ...timed }),
  )
}

export async function runResume(context: OperatorContext): Promise<void> {
  await give(context, { command: 'resume' }, (gid, given) => context.operator.resume(gid, given))
}

export async function runAbort(context: OperatorContext): Promise<void> {
  await give(context, { command: 'abort' }, (gid, given) => context.operator.abort(gid, given))
}

export async function runStop(context: OperatorContext): Promise<void> {
  await give(context, { command: 'stop' }, (gid, given) => context.operator.stop(gid, given))
}

export async function runSkip(context: OperatorContext): Promise<void> {
  const { operator, line } = context
  const op = readPlacedOp(context)
  const doneBy = readDoneBy(readValue(line, 'done-by')) ?? 'hand'
  // The text was checked to be JSON, which is a payload.
  const answer = readJson(line, 'answer') as PayloadValue | undefined
  const more = dropUndefined({ answer, confirm: readConfirm(line.values.has('confirm')) })
  await give(context, { command: 'skip', op, doneBy }, (gid, given) =>
    operator.skip(gid, op, { ...given, doneBy, ...more }),
  )
}

export async function runEdit(context: OperatorContext): Promise<void> {
  const { operator, line } = context
  const op = readPlacedOp(context)
  const headers = readPairs(line, 'header')
  const timeoutMs = readValue(line, 'timeout-ms')
  const fields: Partial<EditOptions> = dropUndefined({
    url: readValue(line, 'new-url'),
    ...readContent(line),
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    timeoutMs: timeoutMs === undefined ? undefined : Number(timeoutMs),
    // The server says which of its fields are wrong.
    retry: readJson(line, 'retry') as Partial<RetryPolicy> | undefined,
    confirm: readConfirm(line.values.has('confirm')),
  })
  await give(
    context,
    { command: 'edit', op },
    (gid, given) => operator.edit(gid, op, { ...given, ...fields }),
    { op, fields },
  )
}

type Give = (gid: string, given: CommandOptions & { readonly reason: string }) => Promise<TransactionView>

async function give(
  context: OperatorContext,
  asked: PreviewRequest,
  send: Give,
  changes?: Changes,
): Promise<void> {
  const { line, print, say, signal } = context
  const [gid = ''] = line.places
  const reason = readValue(line, 'reason')
  const commandId = readValue(line, 'command-id') ?? randomUUID()
  const agreement = await agree(context, gid, asked, changes)
  let view: TransactionView
  try {
    // An absent reason is left out by the JSON. The line was checked to have one where the command needs it.
    view = await send(gid, { ...agreement, commandId, signal, reason: reason as string })
  } catch (error: unknown) {
    if (isUnavailable(error))
      say(`It is not known whether it was given. Give it again with --command-id ${commandId}`)
    throw error
  }
  if (line.output === 'json') {
    print(cleanJson(view, 2))
    return
  }
  print(
    `${cleanLine(gid)}: ${describeGiven(asked.command)} is given, and durable.  ${describeStatus(view.status)}`,
  )
  const { isOver } = await printOutcome(context, asked, view, commandId)
  if (!isOver)
    say(`What comes of it shows counterstep tx watch ${gid.startsWith('-') ? '-- ' : ''}${cleanLine(gid)}`)
}

/** Prints the next answer of the call that was made due, since the one before it says nothing of the command. */
async function printOutcome(
  context: OperatorContext,
  asked: PreviewRequest,
  view: TransactionView,
  commandId: string,
): Promise<{ readonly isOver: boolean }> {
  const { operator, print } = context
  const printWhy = (seen: TransactionView) => {
    for (const text of writeWhy(seen, operator.now())) print(text)
    return { isOver: seen.finishedAt !== undefined }
  }
  const due = findDueCall(asked, view)
  if (due === undefined) return printWhy(view)
  const givenAt = view.trail?.find(({ id }) => id === commandId)?.at ?? operator.now()
  const answered = await awaitAnswer(context, due, givenAt)
  const name = cleanLine(`${due.branchId}.${due.op}`)
  if (answered === undefined) {
    print(`${name} is due now. It has not answered within ${ANSWER_WAIT_MS / 1_000} s.`)
    return { isOver: false }
  }
  print(`${name} was called again: ${describeAnswer(answered.op)}.`)
  return printWhy(answered.view)
}

function describeAnswer({ state, error, statusCode }: OpView): string {
  if (state === 'succeeded') return 'it is done'
  return error === undefined ? `it answered ${statusCode ?? 'nothing'}` : `it ended with ${cleanLine(error)}`
}

function describeGiven(command: OperatorCommand): string {
  return command === 'retry-op' ? 'the retry of one call' : `the ${command}`
}

function readPlacedOp({ line }: OperatorContext): OpName {
  const op = readOp(line.places[1] ?? '')
  if (op === undefined)
    throw new NotGivenError('The call must be a branch and an op, such as debit.compensate.')
  return op
}

function readDoneBy(text: string | undefined): 'service' | 'hand' | undefined {
  return text === 'service' || text === 'hand' ? text : undefined
}

function readConfirm(isGiven: boolean): 'no-call-took-effect' | undefined {
  return isGiven ? 'no-call-took-effect' : undefined
}

function readUntil(line: OperatorContext['line'], now: number): number | undefined {
  const text = readValue(line, 'until')
  return text === undefined ? undefined : toInstant(text, now, 1)
}
