import { writeOption } from '../parts/to-curl.ts'
import { type ListFilter, RANGE_MS } from './list-filter.ts'

const FLAG_OPTIONS = {
  attention: '--attention',
  retrying: '--retrying',
  paused: '--paused',
  byHand: '--by-hand',
  edited: '--edited',
} as const

/** Writes the list as the command line takes it. */
export function toListCommand(filter: ListFilter, limit: number): string {
  const { status, kind, name, tag = [], problem, gid, flags = [], range, order } = filter
  const option = (word: string, value: string | undefined) =>
    value === undefined ? [] : [writeOption(word, value)]
  return [
    'counterstep tx list',
    ...option('status', status?.join(',')),
    ...option('kind', kind),
    ...option('name', name),
    ...tag.flatMap((each) => option('tag', each)),
    ...option('problem', problem),
    ...option('gid', gid),
    ...flags.map((flag) => FLAG_OPTIONS[flag]),
    ...option('from', range === undefined ? undefined : `${RANGE_MS[range] / 60_000}min`),
    ...(order === undefined || order === 'created' ? [] : option('order', order)),
    ...option('limit', String(limit)),
  ].join(' ')
}
