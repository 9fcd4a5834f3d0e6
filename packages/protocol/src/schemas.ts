import { z } from 'zod'
import { ERROR_MEANINGS, type ErrorCode } from './errors.ts'
import {
  ANSWER_BYTES_MAX,
  BRANCH_ID_LENGTH_MAX,
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  GID_LENGTH_MAX,
  HEADER_BYTES_MAX,
  HEADERS_MAX,
  JSON_DEPTH_MAX,
  LIST_LIMIT_MAX,
  PAYLOAD_BYTES_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
} from './limits.ts'
import type { JsonValue } from './wire.ts'
import { KINDS, OPS, RESULTS, STATUSES } from './words.ts'

// The source of the OpenAPI document. The server does not run these: core's own parser checks a submit, because
// validating the hot route with zod cost a fifth of its throughput. Optional keys are exactOptional, so that the
// inferred types are the ones of wire.ts; a test compares both directions.

const integer = (min: number, max: number) => z.number().int().min(min).max(max)
const instant = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(`${description} Milliseconds from the epoch.`)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

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

const urlSchema = z
  .string()
  .min(1)
  .max(URL_LENGTH_MAX)
  .meta({ description: 'An http or https URL, called with POST.', examples: ['http://127.0.0.1:9001/debit'] })

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
    capMs: integer(1, RETRY_CAP_MS_MAX).exactOptional().describe('The longest wait. Default 60,000.'),
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

export const sagaBranchRequestSchema = z
  .strictObject({
    id: branchIdSchema.exactOptional().describe('Default: "01", "02", … by position.'),
    action: urlSchema,
    compensation: urlSchema
      .exactOptional()
      .describe('The URL of the call that undoes the action. Without one there is nothing to undo.'),
    payload: jsonValueSchema
      .exactOptional()
      .describe(`Delivered as application/json, at most ${PAYLOAD_BYTES_MAX} bytes. Exclusive with body.`),
    body: z
      .string()
      .exactOptional()
      .describe(
        `Delivered byte for byte in UTF-8, at most ${PAYLOAD_BYTES_MAX} bytes. Exclusive with payload.`,
      ),
    contentType: z.string().exactOptional().describe('Only with body. Default text/plain; charset=utf-8.'),
    after: z
      .array(branchIdSchema)
      .max(BRANCHES_MAX)
      .readonly()
      .exactOptional()
      .describe('Branches that must have succeeded before. Default: the one before this; [] starts at once.'),
    retry: retryPolicySchema.exactOptional(),
    timeoutMs: timeoutMsSchema.exactOptional(),
    headers: headersSchema.exactOptional(),
  })
  .readonly()
  .describe('One branch of a saga.')

export const submitRequestSchema = z
  .strictObject({
    gid: gidSchema
      .exactOptional()
      .describe('Default: one is made. A gid of your own makes a repeated submit safe.'),
    kind: z.literal('saga').exactOptional(),
    branches: z.array(sagaBranchRequestSchema).min(1).max(BRANCHES_MAX).readonly(),
    retry: retryPolicySchema.exactOptional(),
    timeoutMs: timeoutMsSchema.exactOptional(),
    deadlineMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(
        'From accept. When it passes before all actions have succeeded, the transaction turns around.',
      ),
    delayMs: integer(0, DELAY_MS_MAX).exactOptional().describe('From accept to the first call.'),
    checkpointMs: integer(0, CHECKPOINT_MS_MAX)
      .exactOptional()
      .describe(
        'How long progress may stay unsaved. 0: every branch result is durable before the next call.',
      ),
    headers: headersSchema.exactOptional(),
    ack: z
      .enum(['durable', 'memory'])
      .exactOptional()
      .describe('memory: answered before the accept is durable. Not part of the content.'),
  })
  .readonly()
  .describe('A saga: branches with an action and a compensation each.')

const statusSchema = z.enum(STATUSES).describe('A final status is shown only when it is durable.')
const kindSchema = z.enum(KINDS)
const epochSchema = count.describe('How many times it was claimed after a break.')

export const opViewSchema = z
  .object({
    op: z.enum(OPS),
    url: z.string().exactOptional(),
    state: z.enum(['idle', 'calling', 'waiting', 'succeeded', 'failed']),
    attempts: count,
    result: z.enum(RESULTS).exactOptional().describe('The last answer.'),
    statusCode: z.number().int().exactOptional(),
    answer: z.string().exactOptional().describe(`Up to ${ANSWER_BYTES_MAX} bytes of the last answer's body.`),
    error: z.string().exactOptional().describe('Why the last attempt has no answer, for example timeout.'),
    startedAt: instant('When the first attempt was sent.').exactOptional(),
    endedAt: instant('When the last answer came.').exactOptional(),
    durationMs: z.number().min(0).exactOptional().describe('How long the last attempt took.'),
    nextAt: instant('When it is asked again.').exactOptional(),
  })
  .readonly()

export const branchViewSchema = z
  .object({
    id: z.string(),
    after: z.array(z.string()).readonly(),
    ops: z.array(opViewSchema).readonly(),
  })
  .readonly()

export const abortViewSchema = z
  .object({
    cause: z
      .enum(['branch-failed', 'retry-limit', 'deadline', 'requested', 'check-failed'])
      .describe('check-failed: the query-back says that the sender has not committed.'),
    branchId: z.string().exactOptional(),
    at: instant('When it turned around.'),
    reason: z.string().exactOptional().describe('In the words of whoever asked for it.'),
  })
  .readonly()
  .describe('Why it turned around.')

const transactionViewObject = z.object({
  gid: gidSchema,
  kind: kindSchema,
  status: statusSchema,
  createdAt: instant('When it was accepted.'),
  updatedAt: instant('When it was last saved.'),
  startAt: instant('When its first call is due.').exactOptional(),
  deadlineAt: instant('When it turns around by itself.').exactOptional(),
  checkAt: instant('Of a message that is still prepared: when its sender is asked.').exactOptional(),
  finishedAt: instant('When it became final.').exactOptional(),
  epoch: epochSchema,
  attention: z.string().exactOptional().describe('What a person should look at.'),
  abort: abortViewSchema.exactOptional(),
  check: opViewSchema.exactOptional().describe('Of a message: its query-back.'),
  branches: z.array(branchViewSchema).readonly(),
})

export const transactionViewSchema = transactionViewObject
  .readonly()
  .describe('A transaction with its branches.')

export const submitViewSchema = transactionViewObject
  .extend({ ack: z.enum(['durable', 'memory']).describe('How safe the accept was when this was sent.') })
  .readonly()
  .describe('The answer to a submit.')

export const transactionSummarySchema = z
  .object({
    gid: gidSchema,
    kind: kindSchema,
    status: statusSchema,
    createdAt: instant('When it was accepted.'),
    updatedAt: instant('When it was last saved.'),
    dueAt: instant('Unfinished: when someone must look. Finished: when it may be purged.'),
    epoch: epochSchema,
    retrying: z.boolean(),
    attention: z.boolean(),
  })
  .readonly()

export const transactionPageSchema = z
  .object({
    items: z.array(transactionSummarySchema).max(LIST_LIMIT_MAX).readonly(),
    cursor: z.string().exactOptional().describe('Opaque; pass it for the next page. Absent on the last one.'),
  })
  .readonly()
  .describe('Newest first. A page may be short, even empty, and still have a cursor.')

export const faultSchema = z
  .object({
    // The casts keep the literal union, which Object.keys loses.
    code: z.enum(Object.keys(ERROR_MEANINGS) as [ErrorCode, ...ErrorCode[]]),
    path: z.string().describe('JSON pointer into the body, or the name of a header or query parameter.'),
    message: z.string(),
  })
  .readonly()

export const problemSchema = z
  .object({
    type: z.string().describe('A URI that names the problem; one for each code.'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('For people; may change.'),
    code: z.string().describe('Stable; branch on this.'),
    gid: z.string().exactOptional(),
    path: z.string().exactOptional().describe('The place of the first fault.'),
    faults: z.array(faultSchema).readonly().exactOptional(),
  })
  .readonly()
  .describe('RFC 9457.')

export const rootSchema = z
  .object({
    name: z.literal('counterstep'),
    version: z.string(),
    links: z.object({ docs: z.string(), openApi: z.string(), ready: z.string() }).readonly(),
  })
  .readonly()

export const livenessSchema = z.object({ status: z.literal('live') }).readonly()

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'not-ready']),
    reason: z.enum(['stopping', 'store-unavailable']).exactOptional(),
    store: z
      .object({
        name: z.string(),
        durabilityClass: z
          .enum(['A', 'B', 'C'])
          .describe('A: survives power loss. B: up to 2 s may be lost then. C: may be lost on a crash.'),
        failover: z
          .enum(['none', 'lossless', 'lossy'])
          .describe('What a failover of the database may lose; none: there is no failover.'),
        forced: z.boolean().describe('Opened by a switch that forces what is refused otherwise.'),
      })
      .readonly(),
    inFlight: count,
    inFlightMax: count,
  })
  .readonly()

/** Every schema that the OpenAPI document names, under its name there. */
export const NAMED_SCHEMAS = {
  Gid: gidSchema,
  JsonValue: jsonValueSchema,
  RetryPolicy: retryPolicySchema,
  SagaBranchRequest: sagaBranchRequestSchema,
  SubmitRequest: submitRequestSchema,
  OpView: opViewSchema,
  BranchView: branchViewSchema,
  AbortView: abortViewSchema,
  TransactionView: transactionViewSchema,
  SubmitView: submitViewSchema,
  TransactionSummary: transactionSummarySchema,
  TransactionPage: transactionPageSchema,
  Fault: faultSchema,
  Problem: problemSchema,
  Root: rootSchema,
  Liveness: livenessSchema,
  Readiness: readinessSchema,
} as const satisfies Readonly<Record<string, z.ZodType>>
export type SchemaName = keyof typeof NAMED_SCHEMAS
