import type { ListCursor, ListQuery, Store } from '@counterstep/core'
import { openStore } from '../../two-writes-baseline/open-store.ts'
import { type Filled, fillRows, RARE_TAG } from './fill-rows.ts'

const PAGE_ROWS = 50
/** A search for all rows of a filter ends after so many pages. */
const PAGES_MAX = 200

type Filters = Omit<ListQuery, 'limit' | 'cursor'>

/** Every filter of the list alone, in each order, and some that no row or hardly any row passes. */
const FILTERS: Readonly<Record<string, Filters>> = {
  'no filter': {},
  'status=succeeded': { status: ['succeeded'] },
  'status=failed, none': { status: ['failed'] },
  'status=submitted,aborting': { status: ['submitted', 'aborting'] },
  name: { name: 'name-7' },
  'name, none': { name: 'name' },
  kind: { kind: 'tcc' },
  'kind, none': { kind: 'message' },
  'tag of a tenth': { tags: { region: 'eu' } },
  'tag of 20, far back': { tags: RARE_TAG },
  'two tags, 2 far back': { tags: { region: 'eu', ...RARE_TAG } },
  'tag, none': { tags: { region: 'e' } },
  'tag and name, none': { tags: { region: 'eu' }, name: 'name-7' },
  'tag and status, few': { tags: { region: 'eu' }, status: ['submitted'] },
  attention: { attention: true },
  'attention, order=due': { attention: true, order: 'due' },
  'attention, order=-due': { attention: true, order: 'due-last' },
  retrying: { retrying: true },
  'retrying, order=due': { retrying: true, order: 'due' },
  paused: { marks: ['paused'] },
  'paused, order=-due': { marks: ['paused'], order: 'due-last' },
  problem: { problem: 'bank-0 compensate 500' },
  'problem, order=due': { problem: 'bank-0 compensate 500', order: 'due' },
  'order=due': { order: 'due' },
  'order=-due': { order: 'due-last' },
  'order=due, name, none': { order: 'due', name: 'name' },
  'order=-due, tag, none': { order: 'due-last', tags: { region: 'e' } },
  'gid prefix of each': { gidPrefix: 'x-' },
  'gid prefix of a hundredth': { gidPrefix: 'order-' },
  'gid prefix of few': { gidPrefix: 'order-00' },
  'gid prefix, none': { gidPrefix: 'y' },
  'gid prefix, order=due': { gidPrefix: 'order-', order: 'due' },
  'name, kind, status, none': { name: 'name-7', kind: 'message', status: ['failed'] },
}

/** The pages of one filter, one round after the other. */
export interface PageRounds {
  readonly name: string
  readonly ms: readonly number[]
  readonly rows: readonly number[]
}

export interface ReadPages {
  readonly rounds: readonly PageRounds[]
  /** All pages of the rare tag have so many rows, and there are so many pages. */
  readonly rareRows: number
  readonly rarePages: number
}

/** Opens the store of an empty database and fills it. */
export async function openFilledStore(
  environment: Readonly<Record<string, string>>,
  rows: number,
  onFilled: (rows: number) => void,
): Promise<{ readonly store: Store; readonly filled: Filled }> {
  const store = await openStore(environment)
  try {
    return { store, filled: await fillRows(store, rows, onFilled) }
  } catch (error: unknown) {
    await store.close()
    throw error
  }
}

/** Reads the first page of each filter in turn. The first time only fills caches. */
export async function readPages(
  store: Store,
  rounds: number,
  onProgress: (what: string) => void,
): Promise<ReadPages> {
  const names = Object.keys(FILTERS)
  const seen = names.map((name) => ({ name, ms: [] as number[], rows: [] as number[] }))
  for (let round = 0; round <= rounds; round += 1) {
    for (const each of seen) {
      onProgress(`round ${round} of ${rounds}: ${each.name}`)
      const { ms, rows } = await readPage(store, FILTERS[each.name] ?? {})
      if (round === 0) continue
      each.ms.push(ms)
      each.rows.push(rows)
    }
  }
  return { rounds: seen, ...(await readRare(store)) }
}

async function readPage(
  store: Store,
  filters: Filters,
): Promise<{ readonly rows: number; readonly ms: number }> {
  const startedAt = performance.now()
  const { items } = await store.list({ ...filters, limit: PAGE_ROWS })
  return { rows: items.length, ms: performance.now() - startedAt }
}

async function readRare(store: Store): Promise<Pick<ReadPages, 'rareRows' | 'rarePages'>> {
  let cursor: ListCursor | undefined
  let rareRows = 0
  for (let rarePages = 1; ; rarePages += 1) {
    const page = await store.list({ tags: RARE_TAG, limit: PAGE_ROWS, ...(cursor && { cursor }) })
    rareRows += page.items.length
    cursor = page.cursor
    if (cursor === undefined || rarePages === PAGES_MAX) return { rareRows, rarePages }
  }
}
