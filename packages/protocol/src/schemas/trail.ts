import * as z from 'zod'
import {
  COMMAND_ID_LENGTH_MAX,
  OPERATOR_COMMANDS,
  RUN_EXCERPT_LENGTH_MAX,
  TRAIL_CHANGE_LENGTH_MAX,
} from '../operator-words.ts'
import { OPS, STATUSES } from '../words.ts'

// These are the parts of a view that tell of the past.

const instant = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(`${description} Milliseconds from the epoch.`)
const count = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER)

export const attemptRunSchema = z
  .object({
    outcome: z
      .string()
      .describe('A status such as 500, or a word such as timeout; mixed where older runs were merged.'),
    from: count.describe('The number of the first attempt.'),
    count,
    firstAt: instant('When its first answer came.'),
    lastAt: instant('When its last answer came.'),
    excerpt: z
      .string()
      .exactOptional()
      .describe(`The beginning of the last answer, at most ${RUN_EXCERPT_LENGTH_MAX} characters.`),
  })
  .readonly()
  .describe('Attempts in a row that ended alike.')

export const actorSchema = z
  .object({
    key: z.object({ id: z.string(), name: z.string() }).readonly().exactOptional(),
    person: z.string().exactOptional().describe('What that person said at the login. It is not proven.'),
    via: z.enum(['console', 'api', 'dtm', 'bulk', 'local']),
  })
  .readonly()
  .describe('Who gave a command.')

export const byHandViewSchema = z
  .object({
    at: instant('When it was said.'),
    doneBy: z
      .enum(['service', 'hand'])
      .describe('service: the service has done it. hand: a person has done it elsewhere.'),
  })
  .readonly()
  .describe('A person has said that the op is done, instead of an answer.')

export const pauseViewSchema = z
  .object({
    at: instant('When it was paused.'),
    until: instant('When the pause ends. Absent: by a resume.').exactOptional(),
    by: actorSchema,
  })
  .readonly()

export const trailEntrySchema = z
  .object({
    id: z.string().max(COMMAND_ID_LENGTH_MAX).describe('The id of the command.'),
    at: instant('When it was given.'),
    by: actorSchema,
    command: z.enum(OPERATOR_COMMANDS),
    op: z
      .object({ branchId: z.string(), op: z.enum(OPS) })
      .readonly()
      .exactOptional(),
    reason: z.string().exactOptional(),
    from: z.enum(STATUSES).describe('The status that the transaction had.'),
    before: z.string().max(TRAIL_CHANGE_LENGTH_MAX).exactOptional().describe('What was replaced.'),
    after: z.string().max(TRAIL_CHANGE_LENGTH_MAX).exactOptional().describe('What replaced it.'),
    confirm: z.string().exactOptional(),
    count: count.exactOptional().describe('Retries of one caller in a row are one entry.'),
    bulk: z.string().exactOptional().describe('The bulk job that gave it.'),
  })
  .readonly()
  .describe('A command of an operator, stored together with what it changed.')
