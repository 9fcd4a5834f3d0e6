import { KINDS, type Kind, STATUSES, type Status } from '@counterstep/protocol'

export const ORDERS = ['created', 'due', '-due'] as const
export type Order = (typeof ORDERS)[number]
export const FLAGS = ['attention', 'retrying', 'paused', 'byHand', 'edited'] as const
export type Flag = (typeof FLAGS)[number]
export const RANGES = ['15m', '1h', '24h', '7d'] as const
export type Range = (typeof RANGES)[number]

/** Says which transactions the list shows. It stands whole in the address. */
export interface ListFilter {
  readonly status?: readonly Status[]
  readonly kind?: Kind
  readonly name?: string
  readonly tag?: readonly string[]
  readonly problem?: string
  /** A whole gid, or the beginning of some with `*` at the end. */
  readonly gid?: string
  readonly flags?: readonly Flag[]
  readonly range?: Range
  readonly order?: Order
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the filter from an address. What it does not know it leaves out, so that an old link still shows a list. */
export function readListFilter(fields: Fields): ListFilter {
  const status = readWords(fields.status, STATUSES)
  const flags = FLAGS.filter((flag) => fields[flag] === 'true')
  return removeEmpty({
    status,
    kind: readWord(fields.kind, KINDS),
    name: readText(fields.name),
    tag: readTexts(fields.tag),
    problem: readText(fields.problem),
    gid: readText(fields.gid),
    flags,
    range: readWord(fields.range, RANGES),
    order: readWord(fields.order, ORDERS),
  })
}

export type SearchText = Record<string, string | string[]>

/** Writes the filter into an address: `readListFilter` gives the same filter back. */
export function writeListFilter(filter: ListFilter): SearchText {
  const { status, flags = [], tag, order, ...texts } = filter
  return {
    ...(status === undefined ? {} : { status: status.join(',') }),
    ...removeEmpty(texts),
    ...(tag === undefined ? {} : { tag: tag.length === 1 ? (tag[0] ?? '') : [...tag] }),
    ...Object.fromEntries(flags.map((flag) => [flag, 'true'])),
    ...(order === undefined || order === 'created' ? {} : { order }),
  } as SearchText
}

export const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
}

/** Writes the filter as the interface takes it. The range becomes an instant, cut to seconds so that a page can be asked again. */
export function toListQuery(filter: ListFilter, now: number): SearchText {
  const { range, ...others } = filter
  const from = range === undefined ? undefined : Math.floor((now - RANGE_MS[range]) / 1_000) * 1_000
  return { ...writeListFilter(others), ...(from === undefined ? {} : { createdFrom: String(from) }) }
}

export function isEmptyFilter({ order: _order, ...others }: ListFilter): boolean {
  return Object.keys(others).length === 0
}

function readWords<Word extends string>(given: unknown, known: readonly Word[]): readonly Word[] {
  const words = readTexts(given).flatMap((text) => text.split(','))
  return known.filter((word) => words.includes(word))
}

function readWord<Word extends string>(given: unknown, known: readonly Word[]): Word | undefined {
  return known.find((word) => word === given)
}

function readText(given: unknown): string | undefined {
  return typeof given === 'string' && given !== '' ? given : undefined
}

function readTexts(given: unknown): readonly string[] {
  const values = Array.isArray(given) ? given : [given]
  return values.filter((value): value is string => typeof value === 'string' && value !== '')
}

type Filled<Value> = { [Name in keyof Value]?: Exclude<Value[Name], undefined> }

function removeEmpty<Value extends object>(fields: Value): Filled<Value> {
  const isFilled = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value))) as Filled<Value>
}
