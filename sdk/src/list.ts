import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'
import { UnavailableError } from './errors.ts'
import type { CallOptions, ListFilter } from './options.ts'
import { isRecord } from './problem-error.ts'
import { sendAgain } from './send-again.ts'
import type { Setup } from './setup.ts'

export async function* listAll(
  setup: Setup,
  filter: ListFilter,
  options: CallOptions,
): AsyncGenerator<TransactionSummary, void, undefined> {
  let { cursor } = filter
  do {
    const page = await listPage(setup, cursor === undefined ? filter : { ...filter, cursor }, options)
    yield* page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}

export function listPage(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  filter: ListFilter,
  { signal, ...options }: CallOptions,
): Promise<TransactionPage> {
  const query = toQuery(filter)
  const path = `/v1/transactions${query === '' ? '' : `?${query}`}`
  const request = { method: 'GET', path, timeoutMs, signal } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendAgain(async () => readPage(await send(request)), persistence)
}

/** Writes a filter as the parameters of a URL, without a question mark. */
export function toQuery({ tags = {}, ...filter }: ListFilter): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(tags)) query.append('tag', `${key}:${value}`)
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return String(query)
}

function readPage(value: unknown): TransactionPage {
  if (isPage(value)) return value
  throw new UnavailableError('SAGA_UNREACHABLE', 'the answer was not a page')
}

function isPage(value: unknown): value is TransactionPage {
  return isRecord(value) && Array.isArray(value.items)
}
