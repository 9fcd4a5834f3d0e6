import * as z from 'zod'
import { URL_PARAMETERS_MAX } from '../call-identity.ts'
import {
  BRANCH_ID_LENGTH_MAX,
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  GID_LENGTH_MAX,
  GRANTS_MAX,
  HEADER_BYTES_MAX,
  HEADERS_MAX,
  INPUT_BYTES_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
  POINTER_LENGTH_MAX,
  PREPARED_MS,
  REASON_LENGTH_MAX,
  REFERENCES_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  SIGNAL_BYTES_MAX,
  SIGNAL_ID_LENGTH_MAX,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
  WAIT_END_MS_MAX,
  WORKFLOW_VERSION_MAX,
} from '../limits.ts'
import { NAME_LENGTH_MAX, TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX } from '../operator-words.ts'
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
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._:-]+$/)

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
export const payloadSchema: z.ZodType<PayloadValue> = jsonValueSchema

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

const pointerSchema = z
  .string()
  .max(POINTER_LENGTH_MAX)
  .regex(/^(?:\/(?:[^~]|~[01])*)?$/)
  .meta({ description: 'A JSON pointer (RFC 6901).', examples: ['', '/id'] })

export const referenceSchema = z
  .union([
    z
      .strictObject({
        $from: branchIdSchema.describe('The branch whose answer has the value.'),
        at: pointerSchema.exactOptional().describe('Where in the answer. Default "", the whole answer.'),
        else: payloadSchema.exactOptional().describe('Used where the answer has no such value.'),
      })
      .readonly(),
    z
      .strictObject({
        $input: pointerSchema.describe("Where in the saga's input."),
        else: payloadSchema.exactOptional().describe('Used where the input has no such value.'),
      })
      .readonly(),
  ])
  .describe(
    'A value of the input, or of what a branch answered. A reference of an action names a branch that must have succeeded before; one of a compensation may name its own branch, too, and may be unknown.',
  )

const templateSchema: z.ZodType<PayloadValue> = payloadSchema.describe(
  `Like payload, but an object with $from or $input is a reference (at most ${REFERENCES_MAX} in a saga), and {"$literal": x} is x. Any other name that begins with $ is refused. Exclusive with payload and body.`,
)

const urlTemplateFields = {
  url: urlSchema.describe(
    `Like a plain URL, with places {name} in its path or in the values of its parameters. ${URL_RULE}`,
  ),
  with: z
    .record(z.string(), referenceSchema)
    .readonly()
    .exactOptional()
    .describe('The value of each place. It is percent-encoded. In a compensation each has an else.'),
}
export const urlTemplateSchema = z
  .strictObject(urlTemplateFields)
  .readonly()
  .describe('A URL with values in it.')

const headerTemplatesSchema = z
  .record(z.string(), z.union([z.string(), referenceSchema]))
  .readonly()
  .exactOptional()
  .describe(
    `At most ${HEADERS_MAX} headers and ${HEADER_BYTES_MAX} bytes. They are stored with the transaction. A value may be a reference.`,
  )

const { payload, body, contentType } = branchFields
export const compensationRequestSchema = z
  .strictObject({
    ...urlTemplateFields,
    payload,
    template: templateSchema.exactOptional(),
    body,
    contentType,
    headers: headerTemplatesSchema,
  })
  .readonly()
  .describe('A compensation with a content of its own. Without any it gets {}.')

const afterSchema = z
  .array(branchIdSchema)
  .max(BRANCHES_MAX)
  .readonly()
  .exactOptional()
  .describe('Branches that must have succeeded before. Default: the one before this; [] starts at once.')

export const sagaBranchRequestSchema = z
  .strictObject({
    id: branchIdByPosition,
    action: z.union([urlSchema, urlTemplateSchema]),
    compensation: z
      .union([urlSchema, compensationRequestSchema])
      .exactOptional()
      .describe(
        "The call that undoes the action. Without one there is nothing to undo. Given as a URL it gets the action's content and headers.",
      ),
    template: templateSchema.exactOptional(),
    after: afterSchema,
    ...branchFields,
    headers: headerTemplatesSchema,
    role: z
      .enum(['compensable', 'pivot', 'retriable'])
      .exactOptional()
      .describe(
        'compensable (default): it can be undone. pivot: once it has succeeded, the saga goes forward only. retriable: it comes after that, and is called until it succeeds. The last two have no compensation and no retry.limit.',
      ),
  })
  .readonly()
  .describe('One branch of a saga.')

const waitMsSchema = integer(0, WAIT_END_MS_MAX)
const waitSchema = z
  .union([
    z
      .strictObject({
        ms: z
          .union([waitMsSchema, referenceSchema])
          .describe('The wait ends so many milliseconds after it has opened.'),
      })
      .readonly(),
    z
      .strictObject({
        until: z
          .union([integer(0, Number.MAX_SAFE_INTEGER), z.string(), referenceSchema])
          .describe(
            'The wait ends at this instant: epoch milliseconds, or a date and time of RFC 3339 with its offset.',
          ),
      })
      .readonly(),
    z
      .strictObject({
        signal: branchIdSchema.describe('The wait ends when a signal of this name has come.'),
        timeoutMs: integer(1, WAIT_END_MS_MAX)
          .exactOptional()
          .describe('Default: what is left of 30 days from the accept.'),
        onTimeout: z
          .enum(['abort', 'continue'])
          .exactOptional()
          .describe('abort (default) turns the saga around; continue goes on without an answer.'),
      })
      .readonly(),
  ])
  .describe('What the branch waits for. A wait opens when the branches before it have succeeded.')

export const sagaWaitRequestSchema = z
  .strictObject({ id: branchIdByPosition, after: afterSchema, wait: waitSchema })
  .readonly()
  .describe('A branch of a saga that calls nothing: it waits for a time or for a signal.')

export const signalRequestSchema = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(SIGNAL_ID_LENGTH_MAX)
      .regex(/^[!-~]+$/)
      .describe('The same id with the same name and payload is the same signal.'),
    payload: payloadSchema
      .exactOptional()
      .describe(`The answer of the branch that takes the signal; at most ${SIGNAL_BYTES_MAX} bytes.`),
  })
  .readonly()
  .describe('A signal.')

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

export const nameSchema = z
  .string()
  .min(1)
  .max(NAME_LENGTH_MAX)
  .regex(/^[A-Za-z0-9._:/-]+$/)
  .meta({ description: 'It groups transactions in lists and figures.', examples: ['transfer'] })

export const tagsSchema = z
  .record(
    z
      .string()
      .regex(/^[a-z][a-z0-9_.-]*$/)
      .max(TAG_KEY_LENGTH_MAX),
    z
      .string()
      .regex(/^[!-~]+$/)
      .max(TAG_VALUE_LENGTH_MAX),
  )
  .readonly()
  .meta({
    description: `At most ${TAGS_MAX} words to find it by, each under a key. Every reader sees them, so they are no place for a secret.`,
    examples: [{ region: 'eu' }],
    maxProperties: TAGS_MAX,
  })

const commonFields = {
  gid: gidSchema
    .exactOptional()
    .describe('Default: one is made. A gid of your own makes a repeated submit safe.'),
  name: nameSchema.exactOptional(),
  tags: tagsSchema.exactOptional(),
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
    branches: z
      .array(z.union([sagaBranchRequestSchema, sagaWaitRequestSchema]))
      .min(1)
      .max(BRANCHES_MAX)
      .readonly(),
    deadlineMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(
        'From accept. When it passes before all actions have succeeded, the transaction turns around.',
      ),
    delayMs: delayMsSchema,
    input: payloadSchema
      .exactOptional()
      .describe(`At most ${INPUT_BYTES_MAX} bytes. Templates refer to it by $input.`),
    output: payloadSchema
      .exactOptional()
      .describe('A template over all branches. GET shows its value once the saga has succeeded.'),
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

export const workflowSubmitRequestSchema = z
  .strictObject({
    kind: z.literal('workflow'),
    workflow: branchIdSchema.describe(
      'The name of the function. Without a name the transaction has this one.',
    ),
    handler: urlSchema.meta({
      description: `Where the function is served: an http or https URL, called with POST for each plan, and to run and undo the local steps. ${URL_RULE}`,
      examples: ['http://127.0.0.1:9001/workflows'],
    }),
    input: payloadSchema
      .exactOptional()
      .describe(`What the function gets; at most ${INPUT_BYTES_MAX} bytes. Default null.`),
    version: integer(1, WORKFLOW_VERSION_MAX)
      .exactOptional()
      .describe(
        'Of the function. Where there are grants it must be given. Default: the newest that the handler has.',
      ),
    grants: integer(0, GRANTS_MAX)
      .exactOptional()
      .describe(
        'The slots that one plan call may run local steps under. Default 0, which a handler without a barrier must have.',
      ),
    deadlineMs: integer(1, DEADLINE_MS_MAX)
      .exactOptional()
      .describe(
        'From accept. When it passes before the function has returned, the transaction turns around.',
      ),
    delayMs: delayMsSchema,
    ...commonFields,
  })
  .readonly()
  .describe(
    'A workflow: a function plans its steps while it runs. A server takes it only where it accepts new kinds.',
  )

export const submitRequestSchema = z
  .discriminatedUnion('kind', [
    sagaSubmitRequestSchema,
    tccSubmitRequestSchema,
    messageSubmitRequestSchema,
    workflowSubmitRequestSchema,
  ])
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
