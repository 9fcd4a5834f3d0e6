import * as z from 'zod'
import { URL_PARAMETERS_MAX } from '../call-identity.ts'
import {
  BRANCH_ID_LENGTH_MAX,
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  GID_LENGTH_MAX,
  HEADER_BYTES_MAX,
  HEADERS_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
  PREPARED_MS,
  REASON_LENGTH_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
} from '../limits.ts'
import type { JsonValue, PayloadValue } from '../wire.ts'

// These schemas describe what a caller sends. The server does not run them: core's own parser checks a submit,
// because validating the busiest route with zod cost a fifth of its throughput. Optional keys are exactOptional, so
// that the inferred types are those of wire.ts; a test compares both directions.

const integer = (min: number, max: number) => z.number().int().min(min).max(max)
export const gidSchema = z
  .string()
  .min(1)
  .max(GID_LENGTH_MAX)
  .regex(/^(?!\.{1,2}$)[!#-&(-:<-[\]-~]+$/)
  .meta({
    description:
      'Global transaction id: printable ASCII without space, quote, backslash or semicolon; not "." or "..".',
    examples: ['order-4711'],
  })

const branchIdSchema = z
  .string()
  .min(1)
  .max(BRANCH_ID_LENGTH_MAX)
  .regex(/^[A-Za-z0-9._:-]+$/)

export const jsonValueSchema: z.ZodType<JsonValue> = z
  .lazy(() =>
    z.union([
      z.null(),
      z.boolean(),
      z.number(),
      z.string(),
      z.array(jsonValueSchema).readonly(),
      z.record(z.string(), jsonValueSchema).readonly(),
    ]),
  )
  .meta({
    description: `Any JSON value, at most ${JSON_DEPTH_MAX} levels deep. A number that a double cannot hold exactly is refused.`,
  })

/** The type allows whatever a caller may write in TypeScript. The value that arrives is checked all the same. */
const payloadSchema: z.ZodType<PayloadValue> = jsonValueSchema

const URL_RULE = `Each call adds gid, trans_type, branch_id and op to its query. No parameter of its own may be read as one of them by a common parser, in any spelling; it has at most ${URL_PARAMETERS_MAX} parameters.`

const urlSchema = z
  .string()
  .min(1)
  .max(URL_LENGTH_MAX)
  .meta({
    description: `An http or https URL, or \`SERVICE:/PATH\` of a service that the server's configuration names; called with POST. ${URL_RULE}`,
    examples: ['http://127.0.0.1:9001/debit'],
  })

const headersSchema = z
  .record(z.string(), z.string())
  .readonly()
  .meta({
    description: `At most ${HEADERS_MAX} headers and ${HEADER_BYTES_MAX} bytes. They are stored with the transaction.`,
  })

export const retryPolicySchema = z
  .strictObject({
    initialMs: integer(1, RETRY_CAP_MS_MAX).exactOptional().describe('The first wait. Default 200.'),
    factor: z.number().min(1).max(100).exactOptional().describe('Growth of the wait. Default 2.'),
    capMs: integer(1, RETRY_CAP_MS_MAX)
      .exactOptional()
      .describe('The longest wait. Default 60,000. After five failures in a row a wait is at least 1,000.'),
    jitter: z
      .number()
      .min(0)
      .max(1)
      .exactOptional()
      .describe('0: none, 1: drawn over the whole wait. Default 1.'),
    limit: integer(1, RETRY_LIMIT_MAX)
      .nullable()
      .exactOptional()
      .describe(
        'Failed attempts of an action after which the transaction turns around; null: no limit (default).',
      ),
  })
  .readonly()
  .describe('How an op is asked again after an unknown or ongoing answer.')

const timeoutMsSchema = integer(1, TIMEOUT_MS_MAX).describe('The whole time of one branch call.')

const branchFields = {
  payload: payloadSchema
    .exactOptional()
    .describe(`Delivered as application/json, at most ${PAYLOAD_BYTES_MAX} bytes. Exclusive with body.`),
  body: z
    .string()
    .exactOptional()
    .describe(
      `Delivered byte for byte in UTF-8, at most ${PAYLOAD_BYTES_MAX} bytes. Exclusive with payload.`,
    ),
  contentType: z.string().exactOptional().describe('Only with body. Default text/plain; charset=utf-8.'),
  retry: retryPolicySchema.exactOptional(),
  timeoutMs: timeoutMsSchema.exactOptional(),
  headers: headersSchema.exactOptional(),
}
const branchIdByPosition = branchIdSchema.exactOptional().describe('Default: "01", "02", … by position.')

export const sagaBranchRequestSchema = z
  .strictObject({
    id: branchIdByPosition,
    action: urlSchema,
    compensation: urlSchema
      .exactOptional()
      .describe('The URL of the call that undoes the action. Without one there is nothing to undo.'),
    after: z
      .array(branchIdSchema)
      .max(BRANCHES_MAX)
      .readonly()
      .exactOptional()
      .describe('Branches that must have succeeded before. Default: the one before this; [] starts at once.'),
    ...branchFields,
  })
  .readonly()
  .describe('One branch of a saga.')

export const messageBranchRequestSchema = z
  .strictObject({ id: branchIdByPosition, action: urlSchema, ...branchFields })
  .readonly()
  .describe('One branch of a message. It is called until it answers 200.')

export const tccBranchRequestSchema = z
  .strictObject({
    id: branchIdSchema.describe("Its client's own, who tries the branch under it."),
    confirm: urlSchema.describe(`Called with POST after the submit. ${URL_RULE}`),
    cancel: urlSchema.describe(`Called with POST after an abort, or when the time is over. ${URL_RULE}`),
    ...branchFields,
  })
  .readonly()
  .describe('A branch of a TCC, registered before its client tries it.')

export const messageCheckRequestSchema = z
  .strictObject({
    url: urlSchema.meta({
      description: `An http or https URL, called with GET: 200, the sender has committed; 409, it never will; 425, not yet. ${URL_RULE}`,
      examples: ['http://127.0.0.1:9001/query-back'],
    }),
    afterMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(`From accept to the question, while it is still prepared. Default ${PREPARED_MS}.`),
    headers: headersSchema.exactOptional(),
  })
  .readonly()
  .describe("Who is asked whether the sender's own database transaction has committed.")

const commonFields = {
  gid: gidSchema
    .exactOptional()
    .describe('Default: one is made. A gid of your own makes a repeated submit safe.'),
  retry: retryPolicySchema.exactOptional(),
  timeoutMs: timeoutMsSchema.exactOptional(),
  checkpointMs: integer(0, CHECKPOINT_MS_MAX)
    .exactOptional()
    .describe('How long progress may stay unsaved. 0: every branch result is durable before the next call.'),
  headers: headersSchema.exactOptional(),
  ack: z
    .enum(['durable', 'memory'])
    .exactOptional()
    .describe('memory: answered before the accept is durable. Not part of the content.'),
}
const delayMsSchema = integer(0, DELAY_MS_MAX).exactOptional().describe('From accept to the first call.')

export const sagaSubmitRequestSchema = z
  .strictObject({
    kind: z.literal('saga').exactOptional(),
    branches: z.array(sagaBranchRequestSchema).min(1).max(BRANCHES_MAX).readonly(),
    deadlineMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(
        'From accept. When it passes before all actions have succeeded, the transaction turns around.',
      ),
    delayMs: delayMsSchema,
    ...commonFields,
  })
  .readonly()
  .describe('A saga: branches with an action and a compensation each.')

export const tccSubmitRequestSchema = z
  .strictObject({
    kind: z.literal('tcc'),
    deadlineMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(
        `From accept. When it passes before the submit, every branch is cancelled. Default ${PREPARED_MS}.`,
      ),
    ...commonFields,
  })
  .readonly()
  .describe('A TCC: accepted as prepared, its branches are registered one by one.')

export const messageSubmitRequestSchema = z
  .strictObject({
    kind: z.literal('message'),
    branches: z.array(messageBranchRequestSchema).min(1).max(BRANCHES_MAX).readonly(),
    concurrent: z.boolean().exactOptional().describe('All branches at once. Default: one after the other.'),
    delayMs: delayMsSchema,
    check: messageCheckRequestSchema.exactOptional(),
    ...commonFields,
  })
  .readonly()
  .describe('A message: with a check accepted as prepared, without one as submitted.')

export const submitRequestSchema = z
  .discriminatedUnion('kind', [sagaSubmitRequestSchema, tccSubmitRequestSchema, messageSubmitRequestSchema])
  .describe('A transaction of one of the kinds; without a kind it is a saga.')

export const abortRequestSchema = z
  .strictObject({
    reason: z
      .string()
      .max(REASON_LENGTH_MAX)
      .exactOptional()
      .describe(
        'Kept with the decision and shown. It belongs to the first abort: a repeated one changes nothing.',
      ),
  })
  .readonly()
