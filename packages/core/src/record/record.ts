/**
 * Writes a transaction as texts and reads it back. The texts have its whole state:
 * a decoded transaction goes on as the encoded one would.
 */
import {
  ATTEMPT_RUNS_MAX,
  type AttemptRun,
  type Gid,
  type OpState,
  type PauseView,
  readSlot,
  type Status,
} from '@counterstep/protocol'
import type {
  Callback,
  CompensationContent,
  Definition,
  MessageCheck,
  RegisteredBranch,
  TccBranch,
  XaBranch,
} from '../definition.ts'
import { AssertionError, assert } from '../errors.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { hasEnded, isSeal } from '../rules/workflow-steps.ts'
import {
  type AbortDecision,
  type Edit,
  firstPlan,
  type Generation,
  hasStages,
  hasSteps,
  IDLE,
  isTwoPhase,
  type LocalStep,
  type MessageBranchProgress,
  type OpProgress,
  type RecordedTransaction,
  type SagaBranchProgress,
  type Signal,
  type StepRecord,
  type StoredEntry,
  type TccBranchProgress,
  type Transaction,
  UNCONFIRMED,
  UNDECIDED,
  UNDELIVERED,
  UNTOUCHED,
  type WorkflowStep,
  type WorkflowTransaction,
  type XaBranchProgress,
} from '../transaction.ts'
import { isByHand, isListOfEdits, isPause, isTrail } from './operator-record.ts'

/** The newest format that this code reads. It is raised when older code could not read what this code writes. */
export const FORMAT = 9

/**
 * Returns the oldest format that has such a record. The first format has sagas without `wordsCount`, the third one added
 * values, and the fourth one waits and roles. The fifth one has what operators commanded: older code would drop the trail
 * with its next save, call what is paused, and send the old request in place of an edited one. The sixth
 * one has workflows, the seventh one their later generations: older code would give slots a second time. The eighth one has XA. The
 * ninth one has recorded workflows, calls over gRPC and calls by JSON-RPC: older code would take the error within an answer for
 * success.
 */
export function toFormat({
  definition,
  trail,
  generation,
  plan,
}: Pick<Transaction, 'definition' | 'trail'> &
  Partial<Pick<WorkflowTransaction, 'generation' | 'plan'>>): number {
  const { callsGrpc, jsonRpc, kind } = definition
  if (kind === 'recorded' || callsGrpc === true || jsonRpc === true) return 9
  if (definition.kind === 'workflow')
    return generation === undefined && plan?.continueWith === undefined ? 6 : 7
  if (definition.kind === 'xa') return 8
  if (trail !== undefined) return 5
  if (definition.kind === 'saga' && hasStages(definition)) return 4
  if (definition.kind === 'saga' && definition.values !== undefined) return 3
  return definition.kind === 'saga' && definition.wordsCount === undefined ? 1 : 2
}

/** The keys are short, because this text is written with every save. An undefined field is not in the text. */
interface ProgressRecord {
  /** The branches up to the last one that has progress. */
  readonly b?: readonly BranchRecord[] | undefined
  /** The branches that the client of a TCC or of XA has registered. */
  readonly r?: readonly RegisteredBranch[] | undefined
  /** The query-back of a message, or the callback of a recorded workflow. */
  readonly q?: OpRecord | undefined
  /** The reports of the client of a recorded workflow. */
  readonly d?: Reports | undefined
  /** The instant of the mark of no return. */
  readonly n?: number | undefined
  /** The signals of a saga. */
  readonly s?: readonly Signal[] | undefined
  /** The steps that the code of a workflow has planned. */
  readonly w?: WorkflowRecord | undefined
  readonly abort?: AbortDecision | undefined
  readonly finishedAt?: number | undefined
  /** The count of manual retries. The stored key has an older name. */
  readonly nudges?: number | undefined
  readonly claimsUnanswered?: number | undefined
  readonly attention?: string | undefined
  readonly trail?: readonly StoredEntry[] | undefined
  readonly paused?: PauseView | undefined
  readonly edits?: readonly Edit[] | undefined
}

type Reports = { readonly [field in 'records' | 'result']?: RecordedTransaction[field] | undefined }

type WorkflowRecord = Pick<WorkflowTransaction, 'steps' | 'plan' | 'order' | 'seenAt'> & {
  readonly generation?: Generation | undefined
  readonly granted?: number | undefined
  readonly version?: number | undefined
  readonly result?: string | undefined
}

interface BranchRecord {
  /** action */
  readonly a?: OpRecord | undefined
  /** compensate */
  readonly c?: OpRecord | undefined
  /** confirm, or commit */
  readonly f?: OpRecord | undefined
  /** cancel, or rollback */
  readonly x?: OpRecord | undefined
}

/** Counters that are 0 are left out, except `attempts`. */
type OpRecord = Omit<Partial<OpProgress>, 'failures' | 'waits'> & {
  readonly failures?: number | undefined
  readonly waits?: number | undefined
}

/** The progress of a transaction to which nothing has happened yet. */
export const NO_PROGRESS = '{}'

export function encodeDefinition(definition: Definition): string {
  return JSON.stringify(definition)
}

export function encodeProgress(transaction: Transaction): string {
  const branches = encodeBranches(transaction)
  const touched = branches.slice(0, branches.findLastIndex(isTouched) + 1)
  const record: ProgressRecord = {
    b: touched.length === 0 ? undefined : touched,
    r: isTwoPhase(transaction) && transaction.registered.length > 0 ? transaction.registered : undefined,
    q: 'check' in transaction ? encodeOp(transaction.check) : undefined,
    d: transaction.kind === 'recorded' ? encodeReports(transaction) : undefined,
    n: hasSteps(transaction) ? transaction.noReturnAt : undefined,
    s: hasSteps(transaction) ? transaction.signals : undefined,
    w: transaction.kind === 'workflow' ? encodeWorkflow(transaction) : undefined,
    abort: 'abort' in transaction ? transaction.abort : undefined,
    finishedAt: 'finishedAt' in transaction ? transaction.finishedAt : undefined,
    nudges: transaction.manualRetries === 0 ? undefined : transaction.manualRetries,
    claimsUnanswered: transaction.claimsUnanswered === 0 ? undefined : transaction.claimsUnanswered,
    attention: transaction.attention,
    trail: transaction.trail,
    paused: transaction.paused,
    edits: transaction.edits,
  }
  return JSON.stringify(record)
}

function encodeReports({ records, result }: RecordedTransaction): Reports | undefined {
  if (records.length === 0 && result === undefined) return undefined
  return { records: records.length === 0 ? undefined : records, result }
}

/** A workflow whose first plan has not been accepted has nothing that the definition does not imply, but for seals. */
function encodeWorkflow({
  steps,
  plan,
  generation,
  order,
  seenAt,
  granted,
  version,
  result,
}: WorkflowTransaction): WorkflowRecord | undefined {
  if (generation === undefined && plan.number === 1 && plan.call === IDLE && steps.length === 0)
    return undefined
  return { steps, plan, generation, order, seenAt, granted, version, result }
}

function encodeBranches(transaction: Transaction): readonly BranchRecord[] {
  switch (transaction.kind) {
    case 'saga':
    case 'workflow':
      return transaction.branches.map(({ action, compensate }) => ({
        a: encodeOp(action),
        c: encodeOp(compensate),
      }))
    case 'tcc':
      return transaction.branches.map(({ confirm, cancel }) => ({
        f: encodeOp(confirm),
        x: encodeOp(cancel),
      }))
    case 'xa':
      return transaction.branches.map(({ commit, rollback }) => ({
        f: encodeOp(commit),
        x: encodeOp(rollback),
      }))
    case 'message':
      return transaction.branches.map(({ action }) => ({ a: encodeOp(action) }))
    case 'recorded':
      return []
  }
}

function isTouched({ a, c, f, x }: BranchRecord): boolean {
  return (a ?? c ?? f ?? x) !== undefined
}

function encodeOp(progress: OpProgress): OpRecord | undefined {
  if (progress === IDLE) return undefined
  const { failures, waits } = progress
  return {
    ...progress,
    failures: failures === 0 ? undefined : failures,
    waits: waits === 0 ? undefined : waits,
  }
}

/**
 * Reads a transaction from its row. It throws an AssertionError when this code would not have written the record: such a
 * row needs a person, not a crash. `updatedAt` and `epoch` come from the row's own columns.
 */
export function decodeTransaction(row: StoredTransaction): Transaction {
  assert(row.format <= FORMAT, 'the record is of a newer format')
  const definition = parseRecord(row.definition, 'definition') as Definition
  const record = parseRecord(row.progress, 'progress') as ProgressRecord
  assertShape(definition, record)
  const common = {
    gid: row.gid as Gid,
    digest: row.digest,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    epoch: row.epoch,
    sentUnknown: row.sentList === 'unknown',
    manualRetries: record.nudges ?? 0,
    claimsUnanswered: record.claimsUnanswered ?? 0,
    ...(record.attention === undefined ? {} : { attention: record.attention }),
    ...(record.trail === undefined ? {} : { trail: record.trail }),
    ...(record.paused === undefined ? {} : { paused: record.paused }),
    ...(record.edits === undefined ? {} : { edits: record.edits }),
    ...decodeStatus(row.status, record),
  }
  const transaction = { ...common, ...decodeKind(definition, record, row.createdAt) }
  assert(isOfKind(transaction), `a ${definition.kind} cannot be ${row.status}`)
  return transaction
}

/** Reads the status and the fields that belong to it. */
function decodeStatus(status: Status, { abort, finishedAt }: ProgressRecord) {
  if (status === 'prepared' || status === 'submitted') return { status }
  if (status === 'aborting' && abort !== undefined) return { status, abort }
  if (status === 'succeeded' && finishedAt !== undefined) return { status, finishedAt }
  if (status === 'failed' && abort !== undefined && finishedAt !== undefined)
    return { status, abort, finishedAt }
  if (status === 'stopped' && finishedAt !== undefined) {
    return { status, finishedAt, ...(abort === undefined ? {} : { abort }) }
  }
  throw new AssertionError(`the record lacks what status ${status} has`)
}

function decodeKind(
  definition: Definition,
  { b = [], r = [], q, d = {}, n, s, w }: ProgressRecord,
  createdAt: number,
) {
  switch (definition.kind) {
    case 'saga': {
      const branches = definition.branches.map((_, position) => decodeSagaBranch(b[position]))
      return {
        kind: definition.kind,
        definition,
        branches,
        ...(n === undefined ? {} : { noReturnAt: n }),
        ...(s === undefined ? {} : { signals: s }),
      }
    }
    case 'tcc': {
      const branches = r.map((_, position) => decodeTccBranch(b[position]))
      return { kind: definition.kind, definition, registered: r as readonly TccBranch[], branches }
    }
    case 'xa': {
      const branches = r.map((_, position) => decodeXaBranch(b[position]))
      return { kind: definition.kind, definition, registered: r as readonly XaBranch[], branches }
    }
    case 'message': {
      const { kind } = definition
      const branches = definition.branches.map((_, position) => decodeMessageBranch(b[position]))
      return { kind, definition, check: decodeOp(q), branches }
    }
    case 'recorded': {
      const { records = [], result } = d
      const reported = { records, ...(result === undefined ? {} : { result }) }
      return { kind: definition.kind, definition, check: decodeOp(q), branches: [], ...reported }
    }
    case 'workflow': {
      const {
        steps = [],
        plan = firstPlan(createdAt + (definition.delayMs ?? 0)),
        generation,
        order = [],
        seenAt = [],
        granted = definition.grants,
        version,
        result,
      } = w ?? {}
      return {
        kind: definition.kind,
        definition,
        steps,
        branches: steps.map((_, position) => decodeSagaBranch(b[position])),
        plan: { ...plan, call: decodeOp(plan.call) },
        ...(generation === undefined ? {} : { generation }),
        order,
        seenAt,
        ...(granted === undefined ? {} : { granted }),
        ...(version === undefined ? {} : { version }),
        ...(result === undefined ? {} : { result }),
        ...(n === undefined ? {} : { noReturnAt: n }),
        ...(s === undefined ? {} : { signals: s }),
      }
    }
  }
}

const STATUSES_OF: { readonly [kind in Transaction['kind']]: readonly Status[] } = {
  saga: ['submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  tcc: ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  xa: ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  message: ['prepared', 'submitted', 'succeeded', 'failed', 'stopped'],
  workflow: ['submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  recorded: ['prepared', 'succeeded', 'failed', 'stopped'],
}

function isOfKind(transaction: {
  readonly kind: Transaction['kind']
  readonly status: Status
  readonly definition: Definition
}): transaction is Transaction {
  const { kind, status, definition } = transaction
  if (status === 'prepared' && definition.kind === 'message' && definition.check === undefined) return false
  return STATUSES_OF[kind].includes(status)
}

function decodeSagaBranch(record: BranchRecord | undefined): SagaBranchProgress {
  return record === undefined ? UNTOUCHED : { action: decodeOp(record.a), compensate: decodeOp(record.c) }
}

function decodeTccBranch(record: BranchRecord | undefined): TccBranchProgress {
  return record === undefined ? UNCONFIRMED : { confirm: decodeOp(record.f), cancel: decodeOp(record.x) }
}

function decodeXaBranch(record: BranchRecord | undefined): XaBranchProgress {
  return record === undefined ? UNDECIDED : { commit: decodeOp(record.f), rollback: decodeOp(record.x) }
}

function decodeMessageBranch(record: BranchRecord | undefined): MessageBranchProgress {
  return record === undefined ? UNDELIVERED : { action: decodeOp(record.a) }
}

function decodeOp(record: OpRecord | undefined): OpProgress {
  // No field that was read from JSON is undefined.
  return record === undefined ? IDLE : { ...IDLE, ...(record as Partial<OpProgress>) }
}

const STATES: readonly unknown[] = [
  'idle',
  'calling',
  'waiting',
  'open',
  'by-hand',
  'succeeded',
  'failed',
] satisfies OpState[]

/** Checks the parts that the rules rely on. A fault here would hang or crash a later step. */
function assertShape(definition: Definition, record: ProgressRecord): void {
  assert(isObject(definition.retry) && hasBranches(definition), 'the definition is not one of a known kind')
  const { b = [], r = [], q, d = {}, n = 0, s = [], w, abort, attention, trail, paused, edits } = record
  assert(Array.isArray(b) && b.every(isBranchRecord) && isOpRecord(q), 'the progress of a branch is not one')
  assert(areReports(d), 'what the client of a workflow has reported is not a list of steps')
  assert(w === undefined || isWorkflow(w), 'what a workflow has planned is not a list of steps')
  assert(
    definition.kind !== 'workflow' || b.length <= (w?.steps.length ?? 0),
    'the progress of a step is there without the step',
  )
  assert(w === undefined || isJournal(w, b), 'the journal of a workflow is not one')
  assert(
    w === undefined || hasGrants(definition) === (w.granted !== undefined),
    'the grant of a plan is missing',
  )
  assert(
    b.every((branch, position) => isOpenWait(definition, w, branch, position)),
    'an op is open that waits for nothing, or for ever',
  )
  assert(
    Array.isArray(r) && r.every((branch) => isRegistered(branch, definition.kind)),
    'a registered branch is not one',
  )
  assert(Number.isInteger(n), 'the mark of no return is not an instant')
  assert(Array.isArray(s) && s.every(isSignal), 'a signal is not one')
  assert(
    abort === undefined || (isObject(abort) && Array.isArray(abort.branches)),
    'the abort decision is not one',
  )
  assert(attention === undefined || typeof attention === 'string', 'the mark is not a text')
  assert(trail === undefined || isTrail(trail), 'the trail is not one')
  assert(paused === undefined || (isPause(paused) && trail !== undefined), 'the pause is not one')
  assert(edits === undefined || (isListOfEdits(edits) && trail !== undefined), 'the edits are not edits')
}

function hasBranches(definition: Definition): boolean {
  switch (definition.kind) {
    case 'saga':
      return (
        Array.isArray(definition.branches) &&
        definition.branches.every(
          (branch: unknown) =>
            isObject(branch) &&
            'after' in branch &&
            Array.isArray(branch.after) &&
            (!('wait' in branch) || isWait(branch.wait)),
        ) &&
        (definition.values === undefined || isListOfLists(definition.values.kept))
      )
    case 'tcc':
    case 'xa':
      return Number.isInteger(definition.deadlineMs)
    case 'message':
      return (
        Array.isArray(definition.branches) &&
        definition.branches.every(isObject) &&
        (definition.check === undefined || isCheck(definition.check))
      )
    case 'workflow':
      return (
        [definition.workflow, definition.handler, definition.input].every(
          (text: unknown) => typeof text === 'string',
        ) &&
        (!hasGrants(definition) || isPositive(definition.grants))
      )
    case 'recorded':
      return typeof definition.workflow === 'string' && isCallback(definition.callback)
    default:
      return false
  }
}

function isCallback(value: unknown): boolean {
  if (!isContent(value)) return false
  const { url } = value as Partial<Callback>
  return typeof url === 'string'
}

function isWait(value: unknown): boolean {
  if (!isObject(value)) return false
  const { type, ms, until, name } = value as Readonly<Record<string, unknown>>
  if (type === 'signal') return typeof name === 'string'
  const time = type === 'ms' ? ms : type === 'until' ? until : undefined
  return typeof time === 'number' || isObject(time)
}

/** Only a branch that waits is open, and then it has an end. Any other such op would hang or end at once. */
function isOpenWait(
  definition: Definition,
  w: WorkflowRecord | undefined,
  { a }: BranchRecord,
  position: number,
): boolean {
  if (a?.state !== 'open') return true
  const branch = definition.kind === 'saga' ? definition.branches[position] : w?.steps[position]?.branch
  const isOfWait = branch?.wait !== undefined
  return isOfWait && a.nextAt !== undefined
}

function hasGrants(definition: Definition): boolean {
  return definition.kind === 'workflow' && definition.grants !== undefined
}

function isPositive(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0
}

function isWorkflow(value: unknown): boolean {
  if (!isObject(value)) return false
  const {
    steps,
    plan,
    generation,
    order,
    seenAt,
    granted = 1,
    version = 1,
    result,
  } = value as Partial<WorkflowRecord>
  return (
    Array.isArray(steps) &&
    steps.every(isStep) &&
    isObject(plan) &&
    isPositive(plan.number) &&
    [plan.seen, plan.at].every(Number.isInteger) &&
    isOpRecord(plan.call) &&
    (plan.until === undefined || ['now', 'any', 'all', 'end'].includes(plan.until)) &&
    (plan.continueWith === undefined || (isJson(plan.continueWith) && plan.until === 'end')) &&
    (generation === undefined || isGeneration(generation)) &&
    [order, seenAt].every((list) => Array.isArray(list) && list.every(Number.isInteger)) &&
    isPositive(granted) &&
    isPositive(version) &&
    (result === undefined || isJson(result))
  )
}

/** Each entry is a step that has ended, and is there once. A plan call brings the first of them, each with its instant. */
function isJournal({ steps, plan, order, seenAt }: WorkflowRecord, b: readonly BranchRecord[]): boolean {
  const isEntry = (position: number) => hasEnded(b[position]?.a) && !isSeal(steps[position])
  const { seen } = plan
  return (
    order.every(isEntry) &&
    new Set(order).size === order.length &&
    seen >= 0 &&
    seen <= order.length &&
    seenAt.length === seen
  )
}

function areReports(value: unknown): boolean {
  if (!isObject(value)) return false
  const { records = [], result = '' } = value as Reports
  return Array.isArray(records) && records.every(isStepRecord) && typeof result === 'string'
}

function isStepRecord(value: unknown): boolean {
  if (!isObject(value)) return false
  const { branchId, op, status, data } = value as Partial<StepRecord>
  return (
    [branchId, op, data].every((text) => typeof text === 'string') &&
    (status === 'succeeded' || status === 'failed')
  )
}

/** A slot that is guessed too low would be given a second time. */
function isGeneration(value: unknown): boolean {
  if (!isObject(value)) return false
  const { number = 0, at, input, slots } = value as Partial<Generation>
  return isPositive(number - 1) && [at, slots].every(Number.isInteger) && isJson(input)
}

function isJson(text: unknown): boolean {
  if (typeof text !== 'string') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false
  const { id, is, name = '', branch, kept, rank, local } = value as Partial<WorkflowStep>
  if (!isObject(branch)) return false
  const { action, compensation = '', compensationContent = branch } = branch
  return (
    [id, is, name, branch.id, action, compensation].every((text) => typeof text === 'string') &&
    isContent(branch) &&
    isContent(compensationContent) &&
    (branch.wait === undefined || isWait(branch.wait)) &&
    Array.isArray(kept) &&
    kept.every((pointer) => typeof pointer === 'string') &&
    Number.isInteger(rank) &&
    (local === undefined || (isLocal(local) && readSlot(branch.id) !== undefined))
  )
}

function isContent(value: unknown): boolean {
  if (!isObject(value)) return false
  const { body, contentType, headers } = value as Partial<CompensationContent>
  return typeof body === 'string' && typeof contentType === 'string' && isObject(headers)
}

/** A slot that may have run without its seal would be forgotten, so nothing about it is guessed. */
function isLocal(value: unknown): boolean {
  if (!isObject(value)) return false
  const { hasUndo, granted } = value as Partial<LocalStep>
  return (
    typeof hasUndo === 'boolean' && (granted === undefined || granted === 'ran' || granted === 'may-have-run')
  )
}

function isListOfLists(value: unknown): boolean {
  return Array.isArray(value) && value.every(Array.isArray)
}

function isRegistered(value: unknown, kind: Transaction['kind']): boolean {
  if (!isObject(value)) return false
  const { id, confirm, cancel, url } = value as Partial<TccBranch & XaBranch>
  return (kind === 'xa' ? [id, url] : [id, confirm, cancel]).every((text) => typeof text === 'string')
}

function isSignal(value: unknown): boolean {
  if (!isObject(value)) return false
  const { name, id, digest, payload = '', takenBy = 0 } = value as Partial<Signal>
  return [name, id, digest, payload].every((text) => typeof text === 'string') && Number.isInteger(takenBy)
}

function isCheck(value: unknown): boolean {
  if (!isObject(value)) return false
  const { url, afterMs } = value as Partial<MessageCheck>
  return typeof url === 'string' && Number.isInteger(afterMs)
}

function isBranchRecord(value: unknown): value is BranchRecord {
  if (!isObject(value)) return false
  const { a, c, f, x } = value as BranchRecord
  return [a, c, f, x].every(isOpRecord)
}

function isOpRecord(value: unknown): boolean {
  if (value === undefined) return true
  if (!isObject(value)) return false
  const {
    state = 'idle',
    attempts = 0,
    nextAt = 0,
    values = [],
    runs = [],
    byHand,
    failure = '',
  } = value as Partial<OpProgress>
  return (
    STATES.includes(state) &&
    Number.isInteger(attempts) &&
    typeof nextAt === 'number' &&
    (byHand === undefined || isByHand(byHand)) &&
    typeof failure === 'string' &&
    Array.isArray(values) &&
    values.every((each) => each === null || typeof each === 'string') &&
    Array.isArray(runs) &&
    runs.length <= ATTEMPT_RUNS_MAX &&
    runs.every(isRun)
  )
}

function isRun(value: unknown): boolean {
  if (!isObject(value)) return false
  const { outcome, from, count, firstAt, lastAt, excerpt = '' } = value as Partial<AttemptRun>
  return (
    typeof outcome === 'string' &&
    typeof excerpt === 'string' &&
    [from, count, firstAt, lastAt].every(Number.isInteger)
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseRecord(text: string, what: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AssertionError(`the ${what} is not JSON`)
  }
  if (typeof value !== 'object' || value === null) throw new AssertionError(`the ${what} is not an object`)
  return value
}
