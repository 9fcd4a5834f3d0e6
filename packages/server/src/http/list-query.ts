import type { ListQuery } from '@counterstep/core'
import { type Fault, InvalidRequestError, KINDS, LIST_LIMIT_MAX, STATUSES } from '@counterstep/protocol'
import { readCursor } from './list-cursor.ts'

export const LIST_LIMIT_DEFAULT = 50

const NAMES: ReadonlySet<string> = new Set([
  'status',
  'kind',
  'retrying',
  'attention',
  'createdFrom',
  'createdTo',
  'limit',
  'cursor',
])

/** Reads the filters of a list. Throws an InvalidRequestError with every fault. */
export function readListQuery(query: unknown): ListQuery {
  const given = new Map(Object.entries(typeof query === 'object' && query !== null ? query : {}))
  const faults: Fault[] = []
  const refuse = (path: string, message: string) => {
    faults.push({ code: 'SAGA_QUERY_INVALID', path, message })
    return undefined
  }
  for (const name of given.keys()) if (!NAMES.has(name)) refuse(name, 'there is no such filter')

  const read = <Value>(name: string, parse: (text: string) => Value | undefined, expected: string) => {
    const text = given.get(name)
    if (text === undefined) return undefined
    const value = typeof text === 'string' ? parse(text) : undefined
    return value === undefined ? refuse(name, `expected ${expected}`) : value
  }
  const status = readStatuses(given.get('status'))
  if (status === null) refuse('status', `expected some of ${STATUSES.join(', ')}`)
  const filters = {
    kind: read('kind', (text) => KINDS.find((kind) => kind === text), `one of ${KINDS.join(', ')}`),
    retrying: read('retrying', readFlag, 'true or false'),
    attention: read('attention', readFlag, 'true or false'),
    createdFrom: read('createdFrom', readInstant, 'milliseconds from the epoch'),
    createdTo: read('createdTo', readInstant, 'milliseconds from the epoch'),
    cursor: read('cursor', readCursor, 'the cursor of a page'),
  }
  const limit = read('limit', readLimit, `1 to ${LIST_LIMIT_MAX}`) ?? LIST_LIMIT_DEFAULT
  const [first, ...others] = faults
  if (first !== undefined) throw new InvalidRequestError([first, ...others])
  return { limit, ...(status == null ? {} : { status }), ...removeUndefined(filters) }
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function removeUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  // The type is right, since the entries that are left are exactly the defined ones.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>
}

/** Reads statuses that are repeated, or joined by commas. Returns null if not all of them are statuses. */
function readStatuses(given: unknown): ListQuery['status'] | null {
  if (given === undefined) return undefined
  const texts = [given].flat().flatMap((each) => String(each).split(','))
  const statuses = STATUSES.filter((status) => texts.includes(status))
  return texts.every((text) => STATUSES.some((status) => status === text)) ? statuses : null
}

function readFlag(text: string): boolean | undefined {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}

function readInstant(text: string): number | undefined {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

function readLimit(text: string): number | undefined {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= LIST_LIMIT_MAX ? limit : undefined
}
