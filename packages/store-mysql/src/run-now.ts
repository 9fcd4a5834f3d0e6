import type { Tx } from './database-transactions.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { Row } from './session.ts'
import { fill, statementOf } from './statement.ts'

const SET_NOW_TO = statementOf(STATEMENTS.setNowTo)

/** Statements that rely on the database transaction's instant, in one packet with it. */
export async function runNow(
  { session, now }: Tx,
  statements: readonly string[],
): Promise<readonly (readonly Row[] | number)[]> {
  const [, ...answers] = await session.packet([fill(SET_NOW_TO, [now]), ...statements])
  return answers
}

/** How many rows they have changed together; one that reads changes none. */
export function sumOfChanges(answers: readonly (readonly Row[] | number)[]): number {
  return answers.reduce<number>((sum, answer) => sum + (typeof answer === 'number' ? answer : 0), 0)
}
