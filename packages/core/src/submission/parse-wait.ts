/** Reads a branch of a saga that waits for a time or for a signal, and calls nothing. */
import { BRANCH_ID_RULE, isBranchId, WAIT_END_MS_MAX } from '@counterstep/protocol'
import type { SagaBranch, SignalWait, TimeWait, ValueReference, Wait } from '../definition.ts'
import { toPlainText } from '../values/build-request.ts'
import { readInstant, readWaitMs } from '../values/read-time.ts'
import type { Writable } from '../writable.ts'
import { isRecord, readInteger, refuseUnknownFields } from './faults.ts'
import { parseTarget } from './parse-branch.ts'
import type { ReferenceUser, SagaContext } from './references.ts'

type Fields = Readonly<Record<string, unknown>>

const BRANCH_FIELDS = new Set(['id', 'after', 'wait'])
const FIELDS = {
  ms: new Set(['ms']),
  until: new Set(['until']),
  signal: new Set(['signal', 'timeoutMs', 'onTimeout']),
}

/** Its predecessors are read by the caller, as those of any branch. */
export function parseWaitBranch(
  value: Fields,
  position: number,
  path: string,
  context: SagaContext,
): Omit<SagaBranch, 'after'> | undefined {
  refuseUnknownFields(value, BRANCH_FIELDS, path, context.faults)
  const wait = parseWait(value.wait, position, `${path}/wait`, context)
  if (wait === undefined) return undefined
  const { id } = parseTarget({ id: value.id }, position, path, context)
  return { id, body: '', contentType: '', headers: {}, action: '', wait }
}

function parseWait(value: unknown, position: number, path: string, context: SagaContext): Wait | undefined {
  const { faults } = context
  const type = isRecord(value) ? findType(value) : undefined
  if (!isRecord(value) || type === undefined)
    return faults.add('SAGA_WAIT_INVALID', path, 'must be an object with one of ms, until and signal')
  refuseUnknownFields(value, FIELDS[type], path, faults)
  if (type === 'signal') return parseSignalWait(value, path, context)
  const rule = TIME_RULES[type]
  const time = parseTime(value[type], rule, { type: 'action', position }, `${path}/${type}`, context)
  return time === undefined ? undefined : rule.toWait(time)
}

function findType(value: Fields): keyof typeof FIELDS | undefined {
  const types = (['ms', 'until', 'signal'] as const).filter((type) => type in value)
  return types.length === 1 ? types[0] : undefined
}

interface TimeRule {
  readonly read: (text: string) => number | undefined
  /** Only an instant may be given as a text. */
  readonly mayBeText: boolean
  readonly form: string
  readonly toWait: (time: number | ValueReference) => TimeWait
}

const TIME_RULES: Readonly<Record<'ms' | 'until', TimeRule>> = {
  ms: {
    read: readWaitMs,
    mayBeText: false,
    form: `a whole number of milliseconds up to ${WAIT_END_MS_MAX}`,
    toWait: (ms) => ({ type: 'ms', ms }),
  },
  until: {
    read: readInstant,
    mayBeText: true,
    form: 'epoch milliseconds or a date and time of RFC 3339 with its offset',
    toWait: (until) => ({ type: 'until', until }),
  },
}

/** Reads a time that is given as it is, that stands in the input, or that another branch will answer. */
function parseTime(
  value: unknown,
  { read, mayBeText, form }: TimeRule,
  user: ReferenceUser,
  path: string,
  { faults, references }: SagaContext,
): number | ValueReference | undefined {
  const refuse = (): undefined =>
    faults.add('SAGA_WAIT_INVALID', path, `must be ${form}, or a reference to such a value`)
  if (!isRecord(value)) {
    const isText = typeof value === 'string' && mayBeText
    return (typeof value === 'number' || isText ? read(String(value)) : undefined) ?? refuse()
  }
  const piece = references.readText(value, path, user, 'wait')
  // The reference itself was refused.
  if (piece === undefined) return undefined
  if (typeof piece === 'string') return read(piece) ?? refuse()
  const otherwise = piece.else === undefined ? undefined : toPlainText(piece.else)
  return piece.else === undefined || (otherwise !== undefined && read(otherwise) !== undefined)
    ? piece
    : refuse()
}

function parseSignalWait(value: Fields, path: string, { faults }: SagaContext): SignalWait | undefined {
  const { signal: name, onTimeout = 'abort' } = value
  if (!isBranchId(name)) faults.add('SAGA_WAIT_INVALID', `${path}/signal`, BRANCH_ID_RULE)
  if (onTimeout !== 'abort' && onTimeout !== 'continue')
    return faults.add('SAGA_WAIT_INVALID', `${path}/onTimeout`, 'must be "abort" or "continue"')
  const timeoutMs = readInteger(
    value.timeoutMs,
    { min: 1, max: WAIT_END_MS_MAX },
    { code: 'SAGA_WAIT_INVALID', path: `${path}/timeoutMs` },
    faults,
  )
  const wait: Writable<SignalWait> = { type: 'signal', name: isBranchId(name) ? name : '', onTimeout }
  if (timeoutMs !== undefined) wait.timeoutMs = timeoutMs
  return wait
}
