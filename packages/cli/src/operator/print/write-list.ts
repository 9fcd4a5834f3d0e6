import type { TransactionSummary } from '@counterstep/protocol'
import { formatDistance } from './instants.ts'
import { describeMarks, describeStatus, describeTags } from './status-words.ts'
import { type Column, writeTable } from './write-table.ts'

/** Writes one line for each transaction. */
export function writeList(rows: readonly TransactionSummary[], now: number): readonly string[] {
  const columns: readonly Column<TransactionSummary>[] = [
    { title: 'GID', read: ({ gid }) => gid },
    { title: 'NAME', read: ({ name }) => name },
    { title: 'KIND', read: ({ kind }) => kind },
    { title: 'STATUS', read: ({ status }) => describeStatus(status) },
    { title: 'MARKS', read: describeMarks },
    { title: 'PROBLEM', read: ({ problem }) => problem, lengthMax: 64 },
    { title: 'ATTEMPTS', read: ({ attempts }) => attempts, isRight: true },
    { title: 'NEXT', read: (row) => describeNext(row, now), isRight: true },
    { title: 'ACCEPTED', read: ({ createdAt }) => formatDistance(createdAt, now), isRight: true },
    { title: 'TAGS', read: ({ tags }) => describeTags(tags), lengthMax: 48 },
  ]
  return writeTable(columns, rows)
}

/** A row that is paused or parked is due in a far future, which says nothing. */
const FAR_MS = 365 * 86_400_000

function describeNext({ retrying, paused, dueAt }: TransactionSummary, now: number): string {
  if (!retrying || paused === true || dueAt - now > FAR_MS) return ''
  return dueAt <= now ? 'now' : formatDistance(dueAt, now)
}
