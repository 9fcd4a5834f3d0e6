import { parse } from 'node:querystring'
import type { BulkOrder, BulkQuery } from '@counterstep/engine'
import {
  BULK_COMMANDS,
  BULK_GIDS_MAX,
  BULK_NAMED_MAX,
  BULK_PREVIEWED_LENGTH_MAX,
  BULK_RATE_PER_SECOND_MAX,
  type Fault,
  type Gid,
  InvalidRequestError,
  isGid,
  REASON_LENGTH_MAX,
} from '@counterstep/protocol'
import { readListQuery } from '../../http/list-query.ts'

const RATE_PER_SECOND_DEFAULT = 20
const CANARY_DEFAULT = 10
const FILTER_LENGTH_MAX = 2_048
const FIELDS: ReadonlySet<string> = new Set([
  'command',
  'gids',
  'filter',
  'previewed',
  'reason',
  'ratePerSecond',
  'canary',
  'max',
])

/** Reads the body of a bulk request. Throws an InvalidRequestError with every fault. */
export function parseBulkRequest(body: unknown): BulkOrder {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message: 'must be a JSON object' }])
  const fields = body as Readonly<Record<string, unknown>>
  const faults: Fault[] = []
  const refuse = (path: string, message: string): undefined => {
    faults.push({ code: 'SAGA_BULK_INVALID', path, message })
    return undefined
  }
  if (Object.keys(fields).some((name) => !FIELDS.has(name)))
    faults.push({ code: 'SAGA_UNKNOWN_FIELD', path: '', message: `takes ${[...FIELDS].join(', ')}` })
  const readNumber = (name: string, min: number, max: number, otherwise: number): number => {
    const value = fields[name] === undefined ? otherwise : fields[name]
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    refuse(`/${name}`, `must be an integer from ${min} to ${max}`)
    return otherwise
  }
  const command = BULK_COMMANDS.find((each) => each === fields.command)
  if (command === undefined) refuse('/command', `must be one of ${BULK_COMMANDS.join(', ')}`)
  const { reason } = fields
  if (!isReason(reason)) refuse('/reason', `is needed, with at most ${REASON_LENGTH_MAX} characters`)
  const order = {
    ratePerSecond: readNumber('ratePerSecond', 1, BULK_RATE_PER_SECOND_MAX, RATE_PER_SECOND_DEFAULT),
    canary: readNumber('canary', 0, BULK_GIDS_MAX, CANARY_DEFAULT),
    max: readNumber('max', 1, BULK_GIDS_MAX, BULK_GIDS_MAX),
  }
  const choice = readChoice(fields, refuse)
  const [first, ...others] = faults
  if (first !== undefined) throw new InvalidRequestError([first, ...others])
  return { ...order, command: command ?? 'retry', reason: String(reason), choice: choice ?? { gids: [] } }
}

function readChoice(
  { gids, filter, previewed }: Readonly<Record<string, unknown>>,
  refuse: (path: string, message: string) => undefined,
): BulkOrder['choice'] | undefined {
  if ((gids === undefined) === (filter === undefined)) return refuse('', 'needs either gids or filter')
  if (!isShortList(previewed)) return refuse('/previewed', 'must be that of the answer to a preview')
  if (filter === undefined) {
    if (previewed !== undefined) return refuse('/previewed', 'goes with a filter')
    if (isListOfGids(gids)) return { gids }
    return refuse('/gids', `must be 1 to ${BULK_NAMED_MAX} gids`)
  }
  if (typeof filter !== 'string' || filter.length > FILTER_LENGTH_MAX)
    return refuse('/filter', `must be the parameters of a list, at most ${FILTER_LENGTH_MAX} characters`)
  return { filter, query: readFilter(filter), ...(previewed === undefined ? {} : { previewed }) }
}

/** Reads the filters of a list. A bulk job has no page and no order. */
function readFilter(filter: string): BulkQuery {
  const parameters = parse(filter)
  for (const name of ['limit', 'cursor', 'order']) {
    if (name in parameters)
      throw new InvalidRequestError([
        { code: 'SAGA_BULK_INVALID', path: '/filter', message: `must not have ${name}` },
      ])
  }
  const { limit: _, cursor: __, order: ___, ...query } = readListQuery(parameters)
  return query
}

function isListOfGids(value: unknown): value is readonly Gid[] {
  return Array.isArray(value) && value.length > 0 && value.length <= BULK_NAMED_MAX && value.every(isGid)
}

function isShortList(value: unknown): value is string | undefined {
  if (typeof value !== 'string') return value === undefined
  return value.length <= BULK_PREVIEWED_LENGTH_MAX && /^(?:[\w-]{8})*$/.test(value)
}

function isReason(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= REASON_LENGTH_MAX &&
    !/\p{Surrogate}/u.test(value)
  )
}
