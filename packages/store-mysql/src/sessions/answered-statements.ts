import { LibraryChangedError } from '@counterstep/protocol'
import type { Query } from 'mysql2'
import mysql2 from 'mysql2/package.json' with { type: 'json' }

/**
 * Counts the answers by an undocumented part of mysql2, read in 3.24.5. A query with a callback also emits `fields` once for
 * each of its statements, when the columns of its rows have come or when it was answered without rows. The callback comes
 * once, at the end of a packet. Without the events an error would not tell whether the COMMIT of a packet was reached, and
 * each such error would leave the outcome of its writes unknown.
 */
export function countAnswers(query: Query, onAnswer: () => void): void {
  query.on('fields', onAnswer)
}

/** Runs the self-test on the statements that set up each session. Throws a LibraryChangedError if it fails. */
export function assertAnswersCounted(counted: number, statements: number): void {
  if (counted === statements) return
  throw new LibraryChangedError({
    library: 'mysql2',
    version: mysql2.version,
    part: `the event "fields" of a query, which came ${counted} times for ${statements} statements`,
    readIn: '3.24.5',
  })
}
