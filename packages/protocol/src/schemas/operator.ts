import * as z from 'zod'
import { REASON_LENGTH_MAX } from '../limits.ts'
import { COMMAND_ID_LENGTH_MAX, OPERATOR_COMMANDS } from '../operator-words.ts'
import { KINDS, OPS, STATUSES } from '../words.ts'
import { jsonValueSchema, payloadSchema, retryPolicySchema } from './requests.ts'

/** These are the commands that operators send, and the plans that they are shown. */

const instant = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const commandFields = {
  commandId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]+$/)
    .max(COMMAND_ID_LENGTH_MAX)
    .exactOptional()
    .describe('Chosen by the client. The same id again is the same command and changes nothing.'),
  reason: z.string().max(REASON_LENGTH_MAX).exactOptional().describe('Kept in the trail and in the log.'),
  planId: z
    .string()
    .exactOptional()
    .describe('Of a preview. If something else would follow by now, the command is refused.'),
}
const confirm = z
  .literal('no-call-took-effect')
  .exactOptional()
  .describe('Needed where the op may have been called: the person has found out that no call took effect.')
const reason = z.string().min(1).max(REASON_LENGTH_MAX).describe('Kept in the trail and in the log.')

export const commandRequestSchema = z
  .strictObject(commandFields)
  .readonly()
  .describe('The fields that each command of an operator may have.')

export const stopRequestSchema = z.strictObject({ ...commandFields, reason }).readonly()

export const pauseRequestSchema = z
  .strictObject({
    ...commandFields,
    until: instant.exactOptional().describe('The pause ends by itself then. Milliseconds from the epoch.'),
  })
  .readonly()

export const skipRequestSchema = z
  .strictObject({
    ...commandFields,
    reason,
    doneBy: z
      .enum(['service', 'hand'])
      .describe(
        'service: the service has done it, so its compensation undoes it. hand: a person has done it elsewhere, and must undo it there too.',
      ),
    answer: payloadSchema
      .exactOptional()
      .describe('The answer of a skipped action, for the values that other branches take from it.'),
    confirm,
  })
  .readonly()

export const editRequestSchema = z
  .strictObject({
    ...commandFields,
    reason,
    url: z.string().exactOptional(),
    payload: payloadSchema.exactOptional(),
    body: z.string().exactOptional().describe('Delivered byte for byte. It excludes payload.'),
    contentType: z.string().exactOptional(),
    headers: z
      .record(z.string(), z.string())
      .readonly()
      .exactOptional()
      .describe('They replace all headers of the op.'),
    timeoutMs: z.number().int().min(1).exactOptional(),
    retry: retryPolicySchema.exactOptional(),
    confirm,
  })
  .readonly()
  .describe('What it leaves out stays as it is.')

const opNameSchema = z.object({ branchId: z.string(), op: z.enum(OPS) }).readonly()

export const previewRequestSchema = z
  .strictObject({
    command: z.enum(OPERATOR_COMMANDS),
    op: opNameSchema.exactOptional().describe('Only skip, edit and the retry of one op have it.'),
    doneBy: z.enum(['service', 'hand']).exactOptional(),
    until: instant.exactOptional(),
  })
  .readonly()

const plannedCallSchema = z
  .object({
    branchId: z.string(),
    op: z.enum(OPS),
    url: z.string().exactOptional(),
    ran: z.enum(['yes', 'maybe', 'no']).describe('Whether what this call undoes or repeats has run.'),
  })
  .readonly()

export const planViewSchema = z
  .object({
    planId: z.string(),
    exact: z
      .boolean()
      .describe(
        'False on a node that does not run the transaction while another does: each branch counts as sent.',
      ),
    asOf: instant,
    steps: z
      .array(z.array(plannedCallSchema).readonly())
      .readonly()
      .describe('The calls of one list are made at once. Each list follows the one before.'),
    cannotUndo: z
      .array(z.string())
      .readonly()
      .describe('Branches that may have run and have no compensation.'),
    waitsFor: z.array(z.string()).readonly().describe('Services that did not answer the last attempt.'),
    ends: z.enum(STATUSES),
    refusal: z
      .object({ code: z.string(), detail: z.string() })
      .readonly()
      .exactOptional()
      .describe('The command would be refused so.'),
    needs: z.array(z.enum(['reason', 'confirm'])).readonly(),
  })
  .readonly()
  .describe('What would follow from a command, if every call succeeded.')

export const opRequestViewSchema = z
  .object({
    branchId: z.string(),
    op: z.enum(OPS),
    method: z.enum(['GET', 'POST']),
    url: z.string(),
    body: z.string(),
    contentType: z.string(),
    headers: z.record(z.string(), z.string()).readonly(),
    timeoutMs: z.number().int(),
    edited: z.literal(true).exactOptional(),
    short: z
      .literal(true)
      .exactOptional()
      .describe(
        'The requests before it took all the room: its body and its headers are left out, and the places in its URL are open.',
      ),
  })
  .readonly()

export const transactionRequestViewSchema = z
  .object({
    gid: z.string(),
    kind: z.enum(KINDS),
    submit: jsonValueSchema.describe('The body of a submit that would make the same transaction anew.'),
    ops: z.array(opRequestViewSchema).readonly(),
  })
  .readonly()
  .describe('The requests as the branches are called with them. They may hold secrets.')
