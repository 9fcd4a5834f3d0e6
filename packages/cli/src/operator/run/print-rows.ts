import { cleanJson } from '../print/clean-text.ts'
import type { OperatorContext } from './operator-context.ts'

/** Prints one line of JSON for each row, or all of the answer as one JSON value. */
export function printRows({ line, print }: OperatorContext, rows: readonly unknown[], whole: unknown): void {
  if (line.output === 'jsonl') for (const row of rows) print(cleanJson(row))
  else print(cleanJson(whole, 2))
}
