import {
  BREAK_CALLS_MAX,
  BREAK_LATE_MS_MAX,
  BREAK_WAYS,
  type BreakRequest,
  type BreakWay,
  InvalidRequestError,
  OPS,
  type Op,
} from '@counterstep/protocol'

const FIELDS = ['service', 'url', 'urlPrefix', 'branchId', 'op', 'next', 'how', 'lateMs']
const TARGETS = ['service', 'url', 'urlPrefix', 'branchId'] as const
const TEXT_LENGTH_MAX = 2_048

/** Reads the body of a break. Throws an InvalidRequestError. */
export function readBreak(body: unknown): BreakRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw createFault('', 'must be a JSON object')
  const fields = body as Readonly<Record<string, unknown>>
  if (Object.keys(fields).some((name) => !FIELDS.includes(name)))
    throw createFault('', `a break has the fields ${FIELDS.join(', ')}, and no other`)
  const { op, next, how, lateMs } = fields
  if (!isWhole(next, 0, BREAK_CALLS_MAX)) throw createFault('/next', `must be 0 to ${BREAK_CALLS_MAX}`)
  if (!isWay(how)) throw createFault('/how', `must be one of ${BREAK_WAYS.join(', ')}`)
  if (op !== undefined && !isOp(op)) throw createFault('/op', `must be one of ${OPS.join(', ')}`)
  if (lateMs !== undefined && !isWhole(lateMs, 1, BREAK_LATE_MS_MAX))
    throw createFault('/lateMs', `must be 1 to ${BREAK_LATE_MS_MAX}`)
  return {
    ...readTarget(fields),
    ...(op === undefined ? {} : { op }),
    next,
    how,
    ...(lateMs === undefined ? {} : { lateMs }),
  }
}

function readTarget(fields: Readonly<Record<string, unknown>>): Pick<BreakRequest, (typeof TARGETS)[number]> {
  const [name, ...more] = TARGETS.filter((each) => fields[each] !== undefined)
  if (name === undefined || more.length > 0)
    throw createFault('', `needs exactly one of ${TARGETS.join(', ')}`)
  const text = fields[name]
  if (typeof text !== 'string' || text === '' || text.length > TEXT_LENGTH_MAX)
    throw createFault(`/${name}`, `must be 1–${TEXT_LENGTH_MAX} characters`)
  return { [name]: text }
}

function isWay(value: unknown): value is BreakWay {
  return BREAK_WAYS.some((each) => each === value)
}

function isOp(value: unknown): value is Op {
  return OPS.some((each) => each === value)
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
}

function createFault(path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ code: 'SAGA_INVALID', path, message }])
}
