/**
 * Reads the answer of a plan call. It comes from a service that may be another one, broken or hostile, so nothing of it is
 * taken on trust: what is no plan in every part is no plan at all. The URLs in it have to pass the same policy as those of a
 * submit.
 */
import {
  BRANCH_ID_LENGTH_MAX,
  BRANCH_ID_RULE,
  type BranchId,
  FAILURE_CODE_LENGTH_MAX,
  FAILURE_MESSAGE_LENGTH_MAX,
  type Fault,
  isBranchId,
  isTooDeep,
  JSON_DEPTH_MAX,
  type JsonValue,
  KEPT_VALUE_BYTES_MAX,
  mayBeHandedOn,
  NEXT_STEPS_MAX,
  NOT_HANDED_ON,
  type PlanCall,
  type PlanFailure,
  type PlanRefusal,
  readSlot,
  STEPS_MAX,
} from '@counterstep/protocol'
import type { JsonTemplate, SagaBranch, SagaValues, ValueReference } from '../definition.ts'
import { cleanText } from '../record/clean-text.ts'
import type { Plan, RanStep, ReadPlan } from '../rules/workflow-plan.ts'
import { findGrant, findTopRank } from '../rules/workflow-slots.ts'
import type { WorkflowStep, WorkflowTransaction } from '../transaction.ts'
import { buildLocalBranch } from '../values/build-local-branch.ts'
import type { Writable } from '../writable.ts'
import { Faults, isRecord, refuseUnknownFields } from './faults.ts'
import type { CheckUrl } from './parse-branch.ts'
import { parseRetry } from './parse-retry.ts'
import { parseSagaBranch } from './parse-saga-branch.ts'
import { References } from './references.ts'
import { utf8Length } from './utf8-length.ts'

type Fields = Readonly<Record<string, unknown>>

const ANSWER_FIELDS = new Set(['v', 'gid', 'version', 'generation', 'plan', 'ran', 'next', 'then'])
const RAN_FIELDS = new Set(['id', 'is', 'name', 'value', 'failed'])
const RAN_STEP_FIELDS = new Set(['id', 'is', 'name', 'slot', 'undo', 'value', 'failed'])
const NEXT_FIELDS = new Set(['id', 'is', 'name', 'branch'])
const STEP_FIELDS = new Set(['slot', 'input', 'undo', 'role', 'retry', 'timeoutMs'])
const FAILURE_FIELDS = new Set(['code', 'message', 'details'])
const REFUSED_FIELDS = new Set(['code', 'message', 'details', 'id', 'journaled', 'asked'])
const REFUSAL_CODES: ReadonlySet<string> = new Set<PlanRefusal['code']>([
  'WORKFLOW_CHANGED',
  'WORKFLOW_UNKNOWN',
  'WORKFLOW_VERSION_UNKNOWN',
  'WORKFLOW_RULE_BROKEN',
  'SLOT_TAKEN',
  'ALREADY_COMPENSATED',
  'GID_REUSED',
])
const ENDS = ['done', 'failed', 'refused', 'continue'] as const
const CONTINUE_FIELDS = new Set(['continue', 'seen'])
const UNTIL = ['now', 'any', 'all'] as const
/** The values in it may have JSON_DEPTH_MAX levels. */
const ANSWER_DEPTH_MAX = JSON_DEPTH_MAX + 8

/** The one code of a fault that the answer itself has. It is never shown as a code, only its text. */
const FAULT = 'SAGA_WORKFLOW_INVALID'

/** `body` is the text of an answer with status 200, or undefined if it did not come whole. */
export function parsePlan(
  workflow: WorkflowTransaction,
  body: string | undefined,
  checkUrl: CheckUrl,
): ReadPlan {
  if (body === undefined)
    return bad('the answer did not come whole, is packed, is over the bound or is not UTF-8')
  // The depth is read off the text, because to walk what is in it could cost ten times as much as to parse it.
  if (isTooDeep(body, ANSWER_DEPTH_MAX)) return bad('the answer is nested too deep')
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return bad('the answer is not JSON')
  }
  if (!isRecord(value)) return bad('the answer is not an object')
  const other = findOther(workflow, value)
  if (other !== undefined) return bad(other)
  const faults = new Faults()
  const plan = new PlanReader(workflow, checkUrl, faults).read(value)
  const refused = faults.readRefusal()
  if (refused !== undefined) return bad(describeFault(refused.faults[0]))
  return plan === undefined ? bad('the answer cannot be read') : { type: 'read', plan }
}

/** The reason is shown, and may have names of the answer in it. */
function bad(reason: string): ReadPlan {
  return { type: 'bad', reason: cleanText(reason) }
}

function describeFault({ path, message }: Fault): string {
  return path === '' ? message : `${path} ${message}`
}

/** An answer to another call is no answer: a proxy or a wrong URL may give one. */
function findOther(
  { gid, plan, version, generation }: WorkflowTransaction,
  value: Fields,
): string | undefined {
  if (value.v !== 1) return 'the answer has another v'
  if (value.gid !== gid) return 'the answer is for another gid'
  if (value.generation !== (generation?.number ?? 1)) return 'the answer is for another generation'
  if (value.plan !== plan.number) return 'the answer is for another plan'
  // A handler that does not have the workflow has no version of it.
  if (value.version === undefined && isRecord(value.then) && 'refused' in value.then) return undefined
  if (!Number.isInteger(value.version) || (value.version as number) < 1) return 'the answer has no version'
  return version === undefined || version === value.version ? undefined : 'the answer is of another version'
}

type StepHead = Omit<WorkflowStep, 'branch' | 'kept'>

class PlanReader {
  readonly #workflow: WorkflowTransaction
  readonly #checkUrl: CheckUrl
  readonly #faults: Faults
  readonly #ids: Set<string>
  readonly #grant: PlanCall['grant']
  readonly #slots = new Set<number>()
  #rank: number
  /** It stands behind the ids of calls and waits, so that no generation has those of another. */
  readonly #suffix: string

  constructor(workflow: WorkflowTransaction, checkUrl: CheckUrl, faults: Faults) {
    this.#workflow = workflow
    this.#checkUrl = checkUrl
    this.#faults = faults
    this.#ids = new Set(workflow.steps.map(({ id }) => id))
    this.#grant = findGrant(workflow)
    this.#rank = Math.max(workflow.plan.number, findTopRank(workflow.steps) + 1)
    this.#suffix = workflow.generation === undefined ? '' : `~${workflow.generation.number}`
  }

  read(value: Fields): Plan | undefined {
    refuseUnknownFields(value, ANSWER_FIELDS, '', this.#faults)
    if (!this.#faults.isEmpty) return undefined
    const { ran = [], next = [], version, plan } = value
    if (!Array.isArray(ran) || !Array.isArray(next))
      return this.#faults.add(FAULT, '', 'has a ran or a next that is not a list')
    if (ran.length > STEPS_MAX) return this.#faults.add(FAULT, '/ran', `has over ${STEPS_MAX} entries`)
    if (next.length > NEXT_STEPS_MAX)
      return this.#faults.add(FAULT, '/next', `has over ${NEXT_STEPS_MAX} entries`)
    const then = this.#readThen(value.then)
    if (then !== undefined && then.type !== 'wait' && next.length > 0)
      this.#faults.add(FAULT, '/next', 'must be empty at the end')
    const results = ran.flatMap(
      (entry, index) => this.#readRan(entry, version as number, `/ran/${index}`) ?? [],
    )
    const first = this.#workflow.steps.length + results.length
    const steps = next.flatMap(
      (entry, index) => this.#readNext(entry, first + index, version as number, `/next/${index}`) ?? [],
    )
    this.#refuseGap()
    if (then === undefined) return undefined
    return { number: plan as number, version: version as number, ran: results, next: steps, outcome: then }
  }

  #readRan(entry: unknown, version: number, path: string): RanStep | undefined {
    if (!isRecord(entry)) return this.#faults.add(FAULT, path, 'must be an object')
    const { is, value, failed } = entry
    refuseUnknownFields(entry, is === 'step' ? RAN_STEP_FIELDS : RAN_FIELDS, path, this.#faults)
    if (is !== 'run' && is !== 'patch' && is !== 'step')
      return this.#faults.add(FAULT, `${path}/is`, 'must be "run", "patch" or "step"')
    const head = this.#readHead(entry, is, path)
    if (head === undefined) return undefined
    const text = value === undefined ? undefined : JSON.stringify(value as JsonValue)
    if (text !== undefined && utf8Length(text, KEPT_VALUE_BYTES_MAX) > KEPT_VALUE_BYTES_MAX)
      return this.#faults.add(FAULT, `${path}/value`, `is over ${KEPT_VALUE_BYTES_MAX} bytes`)
    this.#refuseUndeliverable(text, `${path}/value`)
    if (failed !== undefined && (is === 'patch' || value !== undefined))
      return this.#faults.add(FAULT, `${path}/failed`, 'stands beside a value, or in a patch')
    const failure =
      failed === undefined ? undefined : this.#readFailure(failed, FAILURE_FIELDS, `${path}/failed`)
    const outcome = { value: text, ...(failure === undefined ? {} : { failure }) }
    if (is === 'step') return this.#readRanStep(head, entry, version, outcome, path)
    const branch = { id: head.id, action: '', body: '', contentType: '', headers: {}, after: [] } as unknown
    return { step: { ...head, branch: branch as SagaBranch, kept: [''] }, ...outcome }
  }

  /** A local step that the handler has run within the call. Each has a rank of its own, since the next one may build on it. */
  #readRanStep(
    head: StepHead,
    { slot, undo }: Fields,
    version: number,
    outcome: Omit<RanStep, 'step'>,
    path: string,
  ): RanStep | undefined {
    const { from, count } = this.#grant
    const number = this.#takeSlot(slot, path, from + count - 1)
    if (number === undefined) return undefined
    if (typeof undo !== 'boolean') return this.#faults.add(FAULT, `${path}/undo`, 'must be true or false')
    const branch = buildLocalBranch(this.#workflow, `~${number}`, {
      step: head.name ?? head.id,
      version,
      hasRun: true,
    })
    this.#rank++
    const step: WorkflowStep = { ...head, branch, kept: [''], local: { hasUndo: undo, granted: 'ran' } }
    return { step, ...outcome }
  }

  /** No two steps have the same slot, and none has one that was taken before this plan. */
  #takeSlot(slot: unknown, path: string, last: number): number | undefined {
    const number = readSlot(slot) ?? 0
    const { from } = this.#grant
    if (number < from || number > last)
      return this.#faults.add(
        FAULT,
        `${path}/slot`,
        last < from ? 'was not granted' : `must be one from ~${from} on`,
      )
    if (this.#slots.has(number)) return this.#faults.add(FAULT, `${path}/slot`, `~${number} stands already`)
    this.#slots.add(number)
    return number
  }

  /** A slot that is left out may have run by another attempt, and a later plan would not have it in its grant. */
  #refuseGap(): void {
    const { from, count } = this.#grant
    const last = Math.max(...this.#slots)
    if (count > 0 && this.#slots.size > 0 && last - from + 1 > this.#slots.size)
      this.#faults.add(FAULT, '', `leaves out a slot from ~${from} to ~${last}`)
  }

  #readNext(entry: unknown, position: number, version: number, path: string): WorkflowStep | undefined {
    if (!isRecord(entry)) return this.#faults.add(FAULT, path, 'must be an object')
    refuseUnknownFields(entry, NEXT_FIELDS, path, this.#faults)
    const { is, branch } = entry
    if (is !== 'step' && is !== 'call' && is !== 'timer' && is !== 'signal')
      return this.#faults.add(FAULT, `${path}/is`, 'must be one of step, call, timer and signal')
    const head = this.#readHead(entry, is, path)
    if (head === undefined) return undefined
    if (!isRecord(branch)) return this.#faults.add(FAULT, `${path}/branch`, 'must be an object')
    return is === 'step'
      ? this.#readLocal(head, branch, version, `${path}/branch`)
      : this.#readBranch(head, branch, position, `${path}/branch`)
  }

  #readHead(entry: Fields, is: WorkflowStep['is'], path: string): StepHead | undefined {
    const { id, name } = entry
    if (!isBranchId(id)) return this.#faults.add(FAULT, `${path}/id`, BRANCH_ID_RULE)
    if (id.length + this.#suffix.length > BRANCH_ID_LENGTH_MAX)
      return this.#faults.add(FAULT, `${path}/id`, `leaves no room for ${this.#suffix} behind it`)
    if (this.#ids.has(id)) return this.#faults.add(FAULT, `${path}/id`, `${id} stands already`)
    this.#ids.add(id)
    const needsName = is !== 'timer' && is !== 'patch'
    const isName = typeof name === 'string' && name.length > 0 && name.length <= 2_048
    if (needsName ? !isName : name !== undefined && !isName)
      return this.#faults.add(FAULT, `${path}/name`, 'must be a name')
    return { id, is, ...(name === undefined ? {} : { name: name as string }), rank: this.#rank }
  }

  /** A call or a wait is a branch of a saga, whose compensation may use the values of its own answer. */
  #readBranch(head: StepHead, value: Fields, position: number, path: string): WorkflowStep | undefined {
    const { retry, headers } = this.#workflow.definition
    if ('after' in value || 'id' in value)
      return this.#faults.add(FAULT, path, 'must have neither id nor after')
    this.#refuseUndeliverableBranch(value, path)
    const own = new Faults()
    const references = new References(undefined, own)
    const context = { retry, headers, checkUrl: this.#checkUrl, faults: own, references }
    const parsed = parseSagaBranch({ ...value, id: head.id }, 0, context)
    const branch = parsed && { ...parsed.branch, after: [] }
    // It refers to itself by the name that the code gave it.
    const values = branch && references.resolve([branch], undefined, () => new Set())
    const refused = own.readRefusal()
    if (refused !== undefined) {
      const [{ path: inside, message }] = refused.faults
      return this.#faults.add(FAULT, `${path}${inside.replace('/branches/0', '')}`, message)
    }
    if (branch === undefined) return this.#faults.add(FAULT, path, 'cannot be read')
    const type = branch.wait === undefined ? 'call' : branch.wait.type === 'signal' ? 'signal' : 'timer'
    if (type !== head.is) return this.#faults.add(FAULT, path, `is a ${type}, and its entry says ${head.is}`)
    if (branch.wait?.type === 'signal' && branch.wait.name !== head.name)
      return this.#faults.add(FAULT, path, 'waits for another signal than its entry names')
    const id = `${head.id}${this.#suffix}` as BranchId
    return { ...head, branch: { ...atPosition(branch, position), id }, kept: keepWhole(values) }
  }

  /** A local step is a call to the handler. What the handler needs to know stands in its body. */
  #readLocal(head: StepHead, value: Fields, version: number, path: string): WorkflowStep | undefined {
    refuseUnknownFields(value, STEP_FIELDS, path, this.#faults)
    const { slot, input, undo, role, timeoutMs } = value
    const number = this.#takeSlot(slot, path, Number.POSITIVE_INFINITY)
    if (number === undefined) return undefined
    if (typeof undo !== 'boolean') return this.#faults.add(FAULT, `${path}/undo`, 'must be true or false')
    if (role !== undefined && role !== 'pivot' && role !== 'retriable')
      return this.#faults.add(FAULT, `${path}/role`, 'must be "pivot" or "retriable"')
    this.#refuseUndeliverable(JSON.stringify(input), `${path}/input`)
    const given = input === undefined ? {} : { input: input as JsonValue }
    const call = { step: head.name ?? head.id, version, ...given }
    const branch: Writable<SagaBranch> = {
      ...buildLocalBranch(this.#workflow, `~${number}`, call),
      ...this.#readLimits(value, path),
    }
    if (typeof timeoutMs === 'number') branch.timeoutMs = timeoutMs
    if (role !== undefined) branch.role = role
    return { ...head, branch, kept: [''], local: { hasUndo: undo } }
  }

  #readLimits({ retry, timeoutMs }: Fields, path: string): Pick<SagaBranch, 'retry'> {
    if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && (timeoutMs as number) > 0))
      this.#faults.add(FAULT, `${path}/timeoutMs`, 'must be a number of milliseconds')
    const parsed =
      retry === undefined
        ? undefined
        : parseRetry(retry, this.#workflow.definition.retry, `${path}/retry`, this.#faults)
    return parsed === undefined ? {} : { retry: parsed }
  }

  #readThen(then: unknown): Plan['outcome'] | undefined {
    const until = UNTIL.find((each) => each === then)
    if (until !== undefined) return { type: 'wait', until }
    const names = isRecord(then) ? Object.keys(then) : []
    const type = ENDS.find((each) => names.includes(each))
    if (!isRecord(then) || type === undefined || names.length > (type === 'continue' ? 2 : 1))
      return this.#faults.add(FAULT, '/then', `must be now, any, all, or one of ${ENDS.join(', ')}`)
    if (type === 'done' || type === 'continue') {
      const text = JSON.stringify(then[type] as JsonValue)
      if (utf8Length(text, KEPT_VALUE_BYTES_MAX) > KEPT_VALUE_BYTES_MAX)
        return this.#faults.add(FAULT, `/then/${type}`, `is over ${KEPT_VALUE_BYTES_MAX} bytes`)
      if (type === 'done') return { type, result: text }
      this.#refuseUndeliverable(text, '/then/continue')
      return this.#readContinue(then, text)
    }
    const failure = this.#readFailure(
      then[type],
      type === 'failed' ? FAILURE_FIELDS : REFUSED_FIELDS,
      `/then/${type}`,
    )
    if (failure === undefined) return undefined
    if (type === 'refused' && !REFUSAL_CODES.has(failure.code))
      return this.#faults.add(FAULT, '/then/refused/code', `must be one of ${[...REFUSAL_CODES].join(', ')}`)
    // It is shown and never given to the code again.
    const shown = { code: cleanText(failure.code), message: cleanText(failure.message) }
    return { type, failure: { ...failure, ...shown } }
  }

  /** A submit refuses such content of a branch, too: a service would refuse its call for ever, and so its undo. */
  #refuseUndeliverableBranch({ payload, template, compensation }: Fields, path: string): void {
    this.#refuseUndeliverable(JSON.stringify(payload), `${path}/payload`)
    this.#refuseUndeliverable(JSON.stringify(template), `${path}/template`)
    if (!isRecord(compensation)) return
    this.#refuseUndeliverable(JSON.stringify(compensation['payload']), `${path}/compensation/payload`)
    this.#refuseUndeliverable(JSON.stringify(compensation['template']), `${path}/compensation/template`)
  }

  /** Later calls to the handler bring the value, and many frameworks refuse a body with such a key for ever. */
  #refuseUndeliverable(json: string | undefined, path: string): void {
    if (json !== undefined && !mayBeHandedOn(json)) this.#faults.add(FAULT, path, NOT_HANDED_ON)
  }

  #readContinue(then: Fields, input: string): Plan['outcome'] | undefined {
    refuseUnknownFields(then, CONTINUE_FIELDS, '/then', this.#faults)
    const { seen } = then
    if (seen === undefined) return { type: 'continue', input }
    if (!Number.isInteger(seen) || (seen as number) < 0)
      return this.#faults.add(FAULT, '/then/seen', 'must be a number of entries')
    return { type: 'continue', input, seen: seen as number }
  }

  #readFailure(value: unknown, fields: ReadonlySet<string>, path: string): PlanFailure | undefined {
    if (!isRecord(value)) return this.#faults.add(FAULT, path, 'must be an object')
    refuseUnknownFields(value, fields, path, this.#faults)
    const { code, message, details } = value
    if (typeof code !== 'string' || code.length === 0 || code.length > FAILURE_CODE_LENGTH_MAX)
      return this.#faults.add(FAULT, `${path}/code`, `must be 1–${FAILURE_CODE_LENGTH_MAX} characters`)
    if (typeof message !== 'string' || message.length > FAILURE_MESSAGE_LENGTH_MAX)
      return this.#faults.add(
        FAULT,
        `${path}/message`,
        `must be at most ${FAILURE_MESSAGE_LENGTH_MAX} characters`,
      )
    if (details === undefined) return { code, message }
    const text = JSON.stringify(details)
    if (utf8Length(text, KEPT_VALUE_BYTES_MAX) > KEPT_VALUE_BYTES_MAX)
      return this.#faults.add(FAULT, `${path}/details`, `is over ${KEPT_VALUE_BYTES_MAX} bytes`)
    // A failure must always be told, so details that no later call could bring are left out.
    return mayBeHandedOn(text) ? { code, message, details: details as JsonValue } : { code, message }
  }
}

/** The branch was read by itself, as the first one of a saga. In the list of steps it has another position. */
function atPosition(branch: SagaBranch, position: number): SagaBranch {
  const content = branch.compensationContent
  const template = content?.template
  if (content === undefined || template === undefined) return branch
  const move = (reference: ValueReference): ValueReference => ({ ...reference, from: position })
  const moveAll = (references: Readonly<Record<string, ValueReference>>) =>
    Object.fromEntries(Object.entries(references).map(([name, reference]) => [name, move(reference)]))
  const body: JsonTemplate | undefined = template.body?.map((piece) =>
    typeof piece === 'string' ? piece : move(piece),
  )
  return {
    ...branch,
    compensationContent: {
      ...content,
      template: {
        ...(template.url === undefined ? {} : { url: moveAll(template.url) }),
        ...(body === undefined ? {} : { body }),
        ...(template.headers === undefined ? {} : { headers: moveAll(template.headers) }),
      },
    },
  }
}

/** The journal has the whole answer. The values that the compensation uses keep their places before it. */
function keepWhole(values: SagaValues | undefined): readonly string[] {
  const [pointers = []] = values?.kept ?? []
  return pointers.includes('') ? pointers : [...pointers, '']
}
