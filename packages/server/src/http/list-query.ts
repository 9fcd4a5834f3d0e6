import type { ListQuery } from '@counterstep/core'
import {
  type Fault,
  type Gid,
  InvalidRequestError,
  isName,
  KINDS,
  LIST_LIMIT_MAX,
  PROBLEM_LENGTH_MAX,
  STATUSES,
  TAGS_MAX,
} from '@counterstep/protocol'
import { readCursor } from './list-cursor.ts'
import {
  LIST_ORDERS,
  readFlag,
  readGidFilter,
  readInstant,
  readMarks,
  readOrder,
  readProblem,
  readStatuses,
  readTags,
} from './read-filters.ts'

export const LIST_LIMIT_DEFAULT = 50

const NAMES: ReadonlySet<string> = new Set([
  ...['gid', 'name', 'tag', 'problem', 'paused', 'byHand', 'edited'],
  ...['status', 'kind', 'retrying', 'attention', 'createdFrom', 'createdTo'],
  ...['order', 'limit', 'cursor'],
])

/** So much of the name of an unknown parameter is repeated. */
const PATH_LENGTH_MAX = 64
const INSTANT = 'milliseconds from the epoch'
const FLAG = 'true or false'

/** Reads the filters of a list. Throws an InvalidRequestError with every fault. */
export function readListQuery(query: unknown): ListQuery & { readonly gid?: Gid } {
  const reader = new QueryReader(query)
  const { gid, gidPrefix } = {
    gid: undefined,
    gidPrefix: undefined,
    ...reader.read('gid', readGidFilter, 'a gid, or its beginning and *'),
  }
  const onlyTrue = (filter: string) =>
    reader.read(filter, (text) => text === 'true' || undefined, 'true') === true
  const filters = {
    status: reader.readAll('status', readStatuses, `some of ${STATUSES.join(', ')}`),
    kind: reader.read('kind', (text) => KINDS.find((kind) => kind === text), `one of ${KINDS.join(', ')}`),
    retrying: reader.read('retrying', readFlag, FLAG),
    attention: reader.read('attention', readFlag, FLAG),
    gid,
    gidPrefix,
    name: reader.read('name', (text) => (isName(text) ? text : undefined), 'a name'),
    tags: reader.readAll('tag', readTags, `at most ${TAGS_MAX} of KEY:VALUE, each key once`),
    problem: reader.read('problem', readProblem, `1 to ${PROBLEM_LENGTH_MAX} characters`),
    marks: readMarks(onlyTrue),
    createdFrom: reader.read('createdFrom', readInstant, INSTANT),
    createdTo: reader.read('createdTo', readInstant, INSTANT),
    order: reader.read('order', readOrder, `one of ${Object.keys(LIST_ORDERS).join(', ')}`),
    cursor: reader.read('cursor', readCursor, 'the cursor of a page'),
  }
  const limit = reader.read('limit', readLimit, `1 to ${LIST_LIMIT_MAX}`) ?? LIST_LIMIT_DEFAULT
  reader.refuseFaults()
  return { limit, ...removeUndefined(filters) }
}

/** Reads the parameters of a query and gathers what is wrong with them. */
class QueryReader {
  readonly #given: ReadonlyMap<string, unknown>
  readonly #faults: Fault[] = []

  constructor(query: unknown) {
    this.#given = new Map(Object.entries(typeof query === 'object' && query !== null ? query : {}))
    for (const name of this.#given.keys()) if (!NAMES.has(name)) this.#refuse(name, 'there is no such filter')
  }

  /** Reads a parameter that may stand there once. */
  read<Value>(name: string, parse: (text: string) => Value | undefined, expected: string): Value | undefined {
    const text = this.#given.get(name)
    if (text === undefined) return undefined
    const value = typeof text === 'string' ? parse(text) : undefined
    return value === undefined ? this.#refuse(name, `expected ${expected}`) : value
  }

  /** Reads a parameter that may be repeated. */
  readAll<Value>(
    name: string,
    parse: (texts: readonly string[]) => Value | undefined,
    expected: string,
  ): Value | undefined {
    const given = this.#given.get(name)
    if (given === undefined) return undefined
    return parse([given].flat().map(String)) ?? this.#refuse(name, `expected ${expected}`)
  }

  refuseFaults(): void {
    const [first, ...others] = this.#faults
    if (first !== undefined) throw new InvalidRequestError([first, ...others])
  }

  #refuse(path: string, message: string): undefined {
    this.#faults.push({ code: 'SAGA_QUERY_INVALID', path: path.slice(0, PATH_LENGTH_MAX), message })
    return undefined
  }
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function removeUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  // The type is right, since the entries that are left are exactly the defined ones.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>
}

function readLimit(text: string): number | undefined {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= LIST_LIMIT_MAX ? limit : undefined
}
