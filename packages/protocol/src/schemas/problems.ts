import * as z from 'zod'
import { PROBLEM_LENGTH_MAX, PROBLEMS_MAX } from '../operator-words.ts'

const instant = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(`${description} Milliseconds from the epoch.`)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const problemTextSchema = z.string().max(PROBLEM_LENGTH_MAX)

const problemViewSchema = z
  .object({
    problem: problemTextSchema.describe(
      'SERVICE OP OUTCOME, for example "bank-a compensate 500"; or a dash and a word, where no op is to blame.',
    ),
    waiting: count,
    attention: count.describe('Those of them at which a person should look.'),
    oldestAt: instant('When the oldest of them was accepted.'),
  })
  .readonly()

export const problemsViewSchema = z
  .object({
    asOf: instant('When they were counted.'),
    items: z
      .array(problemViewSchema)
      .max(PROBLEMS_MAX + 1)
      .readonly(),
  })
  .readonly()
  .describe(
    `What unfinished transactions of all nodes wait for, the most frequent first. Beyond ${PROBLEMS_MAX} the rest is one item called other.`,
  )
