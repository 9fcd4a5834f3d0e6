import {
  ENTRY_TYPES,
  type Gid,
  GRANTS_MAX,
  isBranchId,
  isGid,
  isTooDeep,
  type JournalEntry,
  type JsonValue,
  KEPT_VALUE_BYTES_MAX,
  type PendingEntry,
  PLAN_BYTES_MAX,
  type PlanCall,
  type PlanEntry,
  type PlanFailure,
  type PlanGrant,
  type PlanOutcome,
  readSlot,
  STEPS_MAX,
  URL_LENGTH_MAX,
} from '@counterstep/protocol'
import { PlanCallError } from '../errors.ts'
import { copyJson, countUtf8Bytes } from '../json-text.ts'
import { PLAN_CALL_DEPTH_MAX } from '../limits.ts'

const SLOT_MAX = 999_999_999

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the body of a plan call, which may come from anyone. A field that is not known is refused, because to leave out
 * what a newer orchestrator says of an entry could replay another workflow than the recorded one. Throws a
 * {@link PlanCallError} with the first fault.
 */
export function parsePlanCall(text: string): PlanCall {
  const bytes = countUtf8Bytes(text)
  if (bytes > PLAN_BYTES_MAX)
    throw new PlanCallError('', `has ${bytes} bytes, at most ${PLAN_BYTES_MAX} are read`)
  if (isTooDeep(text, PLAN_CALL_DEPTH_MAX))
    throw new PlanCallError('', `nests deeper than ${PLAN_CALL_DEPTH_MAX} levels`)
  const fields = readObject(parseJson(text), '', FIELDS)
  if (fields.v !== 1)
    throw new PlanCallError('/v', 'is a version of the call that is not served here: only 1 is')
  const journal = readList(fields.journal, '/journal').map(readJournalEntry)
  const pending = readList(fields.pending, '/pending').map(readPendingEntry)
  assertUnique([...journal, ...pending])
  const acceptedAt = readCount(fields.acceptedAt, '/acceptedAt')
  return {
    v: 1,
    gid: readGid(fields.gid),
    workflow: readName(fields.workflow, '/workflow'),
    ...(fields.version === undefined ? {} : { version: readCount(fields.version, '/version', 1) }),
    generation: readCount(fields.generation, '/generation', 1),
    plan: readCount(fields.plan, '/plan', 1),
    acceptedAt,
    startAt: fields.startAt === undefined ? acceptedAt : readCount(fields.startAt, '/startAt', acceptedAt),
    at: readCount(fields.at, '/at'),
    ...(fields.input === undefined ? {} : { input: fields.input as JsonValue }),
    journal,
    pending,
    grant: readGrant(fields.grant, [...journal, ...pending]),
    bytesLeft: readCount(fields.bytesLeft, '/bytesLeft'),
  }
}

const FIELDS = [
  'v',
  'gid',
  'workflow',
  'version',
  'generation',
  'plan',
  'acceptedAt',
  'startAt',
  'at',
  'input',
  'journal',
  'pending',
  'grant',
  'bytesLeft',
]

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error: unknown) {
    throw new PlanCallError('', `is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readJournalEntry(entry: unknown, index: number): JournalEntry {
  const path = `/journal/${index}`
  const fields = readObject(entry, path, ['id', 'is', 'name', 'slot', 'value', 'failed', 'at'])
  return {
    ...readIdentified(fields, path),
    ...readSlotField(fields, path),
    ...readOutcome(fields, path),
    at: readCount(fields.at, `${path}/at`),
  }
}

function readPendingEntry(entry: unknown, index: number): PendingEntry {
  const path = `/pending/${index}`
  const fields = readObject(entry, path, ['id', 'is', 'name', 'slot'])
  const identified = readIdentified(fields, path)
  if (identified.is === 'run' || identified.is === 'patch') {
    throw new PlanCallError(`${path}/is`, `says that a ${identified.is} is pending, which never is`)
  }
  return { ...identified, ...readSlotField(fields, path) }
}

function readIdentified({ id, is, name }: Fields, path: string): PlanEntry {
  if (typeof id !== 'string' || !isBranchId(id)) throw new PlanCallError(`${path}/id`, 'is no id of a step')
  const type = ENTRY_TYPES.find((each) => each === is)
  if (type === undefined) throw new PlanCallError(`${path}/is`, `is none of ${ENTRY_TYPES.join(', ')}`)
  if (typeof name !== 'string' || name.length > URL_LENGTH_MAX) {
    throw new PlanCallError(`${path}/name`, `is no text of at most ${URL_LENGTH_MAX} characters`)
  }
  return { id, is: type, name }
}

function readSlotField({ is, slot }: Fields, path: string): { readonly slot?: string } {
  if (is !== 'step') {
    if (slot === undefined) return {}
    throw new PlanCallError(`${path}/slot`, 'stands at something that is no step')
  }
  if (typeof slot !== 'string' || readSlot(slot) === undefined)
    throw new PlanCallError(`${path}/slot`, 'is no slot such as ~3')
  return { slot }
}

function readOutcome({ value, failed }: Fields, path: string): PlanOutcome {
  if (failed === undefined) {
    if (value === undefined) return {}
    assertFits(value, `${path}/value`)
    return { value: value as JsonValue }
  }
  if (value !== undefined) throw new PlanCallError(path, 'has both a value and a failure')
  return { failed: readFailed(failed, `${path}/failed`) }
}

function readFailed(failed: unknown, path: string): PlanFailure {
  const { code, message, details } = readObject(failed, path, ['code', 'message', 'details'])
  if (typeof code !== 'string') throw new PlanCallError(`${path}/code`, 'is no text')
  if (typeof message !== 'string') throw new PlanCallError(`${path}/message`, 'is no text')
  assertFits(failed, path)
  return { code, message, ...(details === undefined ? {} : { details: details as JsonValue }) }
}

function assertFits(value: unknown, path: string): void {
  const copy = copyJson(value, KEPT_VALUE_BYTES_MAX)
  if ('fault' in copy) throw new PlanCallError(path, copy.fault)
}

/** Without a grant no slot may run, and the next free one is behind all that are there. */
function readGrant(grant: unknown, entries: readonly PendingEntry[]): PlanGrant {
  const last = entries.reduce((most, { slot }) => Math.max(most, readSlot(slot) ?? 0), 0)
  if (grant === undefined) return { from: last + 1, count: 0 }
  const fields = readObject(grant, '/grant', ['from', 'count'])
  const from = readCount(fields.from, '/grant/from', last + 1, SLOT_MAX)
  return { from, count: readCount(fields.count, '/grant/count', 0, GRANTS_MAX) }
}

function assertUnique(entries: readonly PendingEntry[]): void {
  if (entries.length > STEPS_MAX)
    throw new PlanCallError('', `has ${entries.length} entries, at most ${STEPS_MAX} are read`)
  for (const name of ['id', 'slot'] as const) {
    const seen = new Set<string>()
    for (const entry of entries) {
      const value = entry[name]
      if (value === undefined) continue
      if (seen.has(value)) throw new PlanCallError('', `has two entries of the ${name} ${value}`)
      seen.add(value)
    }
  }
}

function readObject(value: unknown, path: string, names: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new PlanCallError(path, 'is no object')
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new PlanCallError(path, `has a field ${unknown.slice(0, 64)}, which is not known here`)
  return value as Fields
}

function readList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new PlanCallError(path, 'is no list')
  return value
}

function readCount(value: unknown, path: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw new PlanCallError(path, `is no whole number from ${min} to ${max}`)
}

function readGid(value: unknown): Gid {
  if (typeof value === 'string' && isGid(value)) return value
  throw new PlanCallError('/gid', 'is no gid')
}

function readName(value: unknown, path: string): string {
  if (typeof value === 'string' && isBranchId(value)) return value
  throw new PlanCallError(path, 'is no name')
}
