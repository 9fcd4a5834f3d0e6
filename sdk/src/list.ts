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
  const request = { method: 'GET', path: `/v1/transactions${toQuery(filter)}`, timeoutMs, signal } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendAgain(async () => readPage(await send(request)), persistence)
}

function toQuery({ tags = {}, ...filter }: ListFilter): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(tags)) query.append('tag', `${key}:${value}`)
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value))
  }
  for (const [key, value] of Object.entries(tags)) query.append('tag', `${key}:${value}`)
  return query.size === 0 ? '' : `?${query}`
}

function readPage(value: unknown): TransactionPage {
  if (isPage(value)) return value
  throw new UnavailableError('SAGA_UNREACHABLE', 'the answer was not a page')
}

function isPage(value: unknown): value is TransactionPage {
  return isRecord(value) && Array.isArray(value.items)
}
