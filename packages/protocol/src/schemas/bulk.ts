import * as z from 'zod'
import { REASON_LENGTH_MAX } from '../limits.ts'
import {
  BULK_COMMANDS,
  BULK_GIDS_MAX,
  BULK_NAMED_MAX,
  BULK_PREVIEWED_LENGTH_MAX,
  BULK_RATE_PER_SECOND_MAX,
  BULK_STATES,
} from '../operator-words.ts'
import { gidSchema } from './requests.ts'

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const instant = (description: string) => count.describe(`${description} Milliseconds from the epoch.`)
const reasonSchema = z.string().min(1).max(REASON_LENGTH_MAX)

export const bulkRequestSchema = z
  .object({
    command: z.enum(BULK_COMMANDS),
    gids: z.array(gidSchema).min(1).max(BULK_NAMED_MAX).readonly().exactOptional(),
    filter: z
      .string()
      .exactOptional()
      .describe(
        'The parameters of the list, as in its URL. It excludes gids, and only unfinished transactions count.',
      ),
    previewed: z
      .string()
      .max(BULK_PREVIEWED_LENGTH_MAX)
      .regex(/^(?:[\w-]{8})*$/)
      .exactOptional()
      .describe(
        'The `previewed` of a preview with the same filter: the job acts on none that has come to match since.',
      ),
    reason: reasonSchema.describe('It is kept in the trail of each transaction, and in the log.'),
    ratePerSecond: z
      .number()
      .int()
      .min(1)
      .max(BULK_RATE_PER_SECOND_MAX)
      .exactOptional()
      .describe('The default is 20.'),
    canary: z
      .number()
      .int()
      .min(0)
      .max(BULK_GIDS_MAX)
      .exactOptional()
      .describe('The first so many get the command alone. The default is 10.'),
    max: z.number().int().min(1).max(BULK_GIDS_MAX).exactOptional(),
  })
  .readonly()
  .describe('One command for many transactions.')

export const bulkPreviewSchema = z
  .object({
    count,
    isExact: z.boolean().describe('It is false if the search for more was given up at a bound.'),
    oldestAt: instant('When the oldest was accepted.').exactOptional(),
    groups: z
      .array(
        z.object({ problem: z.string().exactOptional(), name: z.string().exactOptional(), count }).readonly(),
      )
      .readonly(),
    samples: z.array(gidSchema).readonly(),
    previewed: z
      .string()
      .exactOptional()
      .describe('The whole list in short, for the request that starts the job.'),
  })
  .readonly()
  .describe('What a bulk job would act on.')

const actorSchema = z
  .object({
    key: z.object({ id: z.string(), name: z.string() }).readonly().exactOptional(),
    person: z.string().exactOptional(),
    via: z.enum(['console', 'api', 'dtm', 'bulk', 'local']),
  })
  .readonly()

const countsSchema = z
  .object({
    total: count,
    waiting: count,
    given: count.describe('The command is durable.'),
    gotOn: count.describe('What has waited was answered with success since.'),
    failedAgain: count,
    notAnswered: count,
    refused: count,
    refusedBy: z.record(z.string(), count).readonly().describe('By code.'),
    refusals: z.array(z.object({ gid: gidSchema, code: z.string() }).readonly()).readonly(),
    gone: count.describe('There is no such transaction.'),
  })
  .readonly()
  .describe('total = waiting + given + refused + gone, and given = gotOn + failedAgain + notAnswered.')

export const bulkViewSchema = z
  .object({
    id: z.string(),
    command: z.enum(BULK_COMMANDS),
    reason: reasonSchema,
    by: actorSchema,
    createdAt: instant('When it was given.'),
    filter: z.string().exactOptional(),
    ratePerSecond: count,
    canary: count,
    state: z.enum(BULK_STATES),
    stateSince: instant('Since when it is in this state.'),
    pausedBy: z
      .enum(['canary', 'refusals', 'person'])
      .exactOptional()
      .describe('canary: too few of the first got on. refusals: too many were refused.'),
    counts: countsSchema.exactOptional().describe('Absent in a list.'),
  })
  .readonly()
  .describe('A bulk job.')

export const bulkListSchema = z.object({ items: z.array(bulkViewSchema).readonly() }).readonly()
