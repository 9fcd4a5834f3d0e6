import { parse } from 'node:querystring'
import {
  type Fault,
  InvalidRequestError,
  isSavedViewName,
  SAVED_VIEW_FILTER_LENGTH_MAX,
  SAVED_VIEW_NAME_RULE,
  type SavedViewRequest,
} from '@counterstep/protocol'
import { readListQuery } from '../../http/list-query.ts'

/** A view has no page of its own, and only a span, since an instant would be over soon. */
const NOT_IN_A_VIEW = ['limit', 'cursor', 'createdFrom', 'createdTo'] as const
const RANGE = /^\d{1,3}[mhd]$/

/** Reads the body of a view that is to be saved. Throws an InvalidRequestError with the faults. */
export function parseViewRequest(body: unknown): SavedViewRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message: 'must be a JSON object' }])
  const { name, filter, ...others } = body as Readonly<Record<string, unknown>>
  const faults: Fault[] = []
  if (Object.keys(others).length > 0)
    faults.push({ code: 'SAGA_UNKNOWN_FIELD', path: '', message: 'takes name and filter' })
  if (!isSavedViewName(name))
    faults.push({ code: 'SAGA_VIEW_INVALID', path: '/name', message: SAVED_VIEW_NAME_RULE })
  if (typeof filter !== 'string' || filter.length > SAVED_VIEW_FILTER_LENGTH_MAX) {
    const message = `must be the parameters of a list, at most ${SAVED_VIEW_FILTER_LENGTH_MAX} characters`
    faults.push({ code: 'SAGA_VIEW_INVALID', path: '/filter', message })
  }
  const [first, ...more] = faults
  if (first !== undefined) throw new InvalidRequestError([first, ...more])
  checkFilter(String(filter))
  return { name: String(name), filter: String(filter) }
}

function checkFilter(filter: string): void {
  const { range, ...parameters } = parse(filter)
  const refuse = (message: string) => {
    throw new InvalidRequestError([{ code: 'SAGA_VIEW_INVALID', path: '/filter', message }])
  }
  if (range !== undefined && !(typeof range === 'string' && RANGE.test(range)))
    refuse('range must be a span such as 15m, 1h or 7d')
  for (const name of NOT_IN_A_VIEW) if (name in parameters) refuse(`must not have ${name}`)
  readListQuery(parameters)
}
