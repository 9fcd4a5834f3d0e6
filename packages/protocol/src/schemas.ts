import * as z from 'zod'
import { BREAK_CALLS_MAX, BREAK_LATE_MS_MAX, BREAK_WAYS } from './dev-wire.ts'
import { ERROR_MEANINGS, type ErrorCode } from './errors.ts'
import { ANSWER_BYTES_MAX, LIST_LIMIT_MAX } from './limits.ts'
import { ATTEMPT_RUNS_MAX, TRAIL_ENTRIES_MAX } from './operator-words.ts'
import { bulkListSchema, bulkPreviewSchema, bulkRequestSchema, bulkViewSchema } from './schemas/bulk.ts'
import {
  commandRequestSchema,
  editRequestSchema,
  opRequestViewSchema,
  pauseRequestSchema,
  planViewSchema,
  previewRequestSchema,
  skipRequestSchema,
  stopRequestSchema,
  transactionRequestViewSchema,
} from './schemas/operator.ts'
import { namesViewSchema, overviewViewSchema, servicesViewSchema } from './schemas/operator-views.ts'
import { panelsViewSchema, panelViewSchema } from './schemas/panels.ts'
import { problemsViewSchema, problemTextSchema } from './schemas/problems.ts'
import {
  abortRequestSchema,
  compensationRequestSchema,
  gidSchema,
  jsonValueSchema,
  messageBranchRequestSchema,
  messageCheckRequestSchema,
  messageSubmitRequestSchema,
  nameSchema,
  referenceSchema,
  retryPolicySchema,
  sagaBranchRequestSchema,
  sagaSubmitRequestSchema,
  sagaWaitRequestSchema,
  signalRequestSchema,
  submitRequestSchema,
  tagsSchema,
  tccBranchRequestSchema,
  tccSubmitRequestSchema,
  urlTemplateSchema,
  workflowSubmitRequestSchema,
} from './schemas/requests.ts'
import { savedViewRequestSchema, savedViewSchema, savedViewsSchema } from './schemas/saved-views.ts'
import { attemptRunSchema, byHandViewSchema, pauseViewSchema, trailEntrySchema } from './schemas/trail.ts'
import { ENTRY_TYPES, KINDS, OPS, RESULTS, STATUSES } from './words.ts'

// The OpenAPI document is made from these schemas of the answers that a caller gets, and from the names of all schemas.

const instant = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(`${description} Milliseconds from the epoch.`)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const statusSchema = z.enum(STATUSES).describe('A final status is shown only when it is durable.')
const kindSchema = z.enum(KINDS)
const epochSchema = count.describe(
  '1 at accept. It grows when a node takes it up: a prepared one that was decided, or any after a break.',
)

export const opViewSchema = z
  .object({
    op: z.enum(OPS),
    url: z.string().exactOptional(),
    state: z.enum(['idle', 'calling', 'waiting', 'open', 'by-hand', 'succeeded', 'failed']),
    attempts: count,
    result: z.enum(RESULTS).exactOptional().describe('The last answer.'),
    statusCode: z.number().int().exactOptional(),
    answer: z.string().exactOptional().describe(`Up to ${ANSWER_BYTES_MAX} bytes of the last answer's body.`),
    error: z.string().exactOptional().describe('Why the last attempt has no answer, for example timeout.'),
    startedAt: instant('When the first attempt was sent.').exactOptional(),
    endedAt: instant('When the last answer came.').exactOptional(),
    durationMs: z.number().min(0).exactOptional().describe('How long the last attempt took.'),
    nextAt: instant('When it is asked again.').exactOptional(),
    service: z
      .string()
      .exactOptional()
      .describe('The service that is called: its configured name, or else the host and port of the URL.'),
    runs: z
      .array(attemptRunSchema)
      .max(ATTEMPT_RUNS_MAX)
      .readonly()
      .exactOptional()
      .describe('How its attempts without success ended, the oldest first.'),
    byHand: byHandViewSchema.exactOptional(),
    edited: z.literal(true).exactOptional().describe('An operator has changed its request.'),
  })
  .readonly()

export const waitViewSchema = z
  .object({
    ms: count.exactOptional(),
    until: instant('When it ends.').exactOptional(),
    signal: z.string().exactOptional(),
    timeoutMs: count.exactOptional(),
    onTimeout: z.enum(['abort', 'continue']).exactOptional(),
  })
  .readonly()
  .describe('What a branch waits for. A time that another branch answers stands only in the op.')

export const receivedSignalViewSchema = z
  .object({
    name: z.string(),
    id: z.string(),
    state: z.enum(['taken', 'kept']),
    branchId: z.string().exactOptional().describe('The branch that has taken it.'),
  })
  .readonly()
  .describe('A signal that the transaction has got. Its payload is not shown.')

export const recordViewSchema = z
  .object({ branchId: z.string(), op: z.string(), status: z.enum(['succeeded', 'failed']) })
  .readonly()
  .describe('A step that the client of a recorded workflow has reported. Its data is not shown.')

export const branchViewSchema = z
  .object({
    id: z.string(),
    after: z.array(z.string()).readonly(),
    role: z.enum(['pivot', 'retriable']).exactOptional().describe('Absent for a compensable branch.'),
    wait: waitViewSchema
      .exactOptional()
      .describe('Only a branch that waits has it. Its one op is called action, and is never sent.'),
    is: z
      .enum(ENTRY_TYPES)
      .exactOptional()
      .describe('Only a step of a workflow has it: what its code has planned.'),
    name: z
      .string()
      .exactOptional()
      .describe(
        'Of a local step or a signal its name, of a call its target. Of a slot of which no plan has told: that it may have run.',
      ),
    stepId: z
      .string()
      .exactOptional()
      .describe(
        'The name by which the code knows a step whose id is another one: a slot, or one of a later generation.',
      ),
    rank: z
      .int()
      .exactOptional()
      .describe(
        'The highest is undone first. The steps of one plan share one, but for those that ran within its call.',
      ),
    ops: z.array(opViewSchema).readonly(),
  })
  .readonly()

export const workflowViewSchema = z
  .object({
    name: z.string().describe('The name of the function.'),
    version: z.int().exactOptional().describe('Pinned by the first plan that was accepted.'),
    generation: z.int(),
    generationAt: z.int().exactOptional().describe('When this generation began, from the second one on.'),
    plan: z.int().describe('The number of the plan in hand.'),
    waitsFor: z
      .enum(['now', 'any', 'all'])
      .exactOptional()
      .describe(
        'When the next plan is asked for: at once, when anything ends, or when all of the last plan has.',
      ),
    steps: z.int(),
    stepsMax: z.int(),
    journalBytes: z.int(),
    journalBytesMax: z.int(),
  })
  .readonly()
  .describe('How far the code of a workflow has come.')

export const abortViewSchema = z
  .object({
    cause: z
      .enum([
        'branch-failed',
        'retry-limit',
        'deadline',
        'requested',
        'check-failed',
        'value-unusable',
        'signal-timeout',
        'workflow-failed',
      ])
      .describe(
        'check-failed: the query-back says that the sender has not committed. value-unusable: a request could not be built from the answers. signal-timeout: a signal did not come in time. workflow-failed: the code of a workflow ended with a failure.',
      ),
    branchId: z.string().exactOptional(),
    at: instant('When it turned around.'),
    reason: z
      .string()
      .exactOptional()
      .describe('In the words of whoever asked for it, also when it is JSON with a code.'),
    code: z
      .string()
      .exactOptional()
      .describe('The code of the JSON that the branch answered; else that of a reason that is JSON.'),
    message: z.string().exactOptional().describe('The message beside that code.'),
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
  checkAt: instant(
    'Of a message with a check: when its sender is asked, if it is still prepared then.',
  ).exactOptional(),
  finishedAt: instant('When it became final.').exactOptional(),
  epoch: epochSchema,
  name: nameSchema.exactOptional(),
  tags: tagsSchema.exactOptional(),
  traceId: z
    .string()
    .regex(/^[\da-f]{32}$/)
    .exactOptional()
    .describe('The trace that its submit came in.'),
  problem: problemTextSchema
    .exactOptional()
    .describe('What it waits for: SERVICE OP OUTCOME, for example "bank-a compensate 500".'),
  attention: z.string().exactOptional().describe('What a person should look at.'),
  paused: pauseViewSchema.exactOptional(),
  trail: z
    .array(trailEntrySchema)
    .max(TRAIL_ENTRIES_MAX)
    .readonly()
    .exactOptional()
    .describe('What operators have commanded, the oldest first.'),
  abort: abortViewSchema.exactOptional(),
  output: jsonValueSchema
    .exactOptional()
    .describe('Of a saga that asked for it and has succeeded. Its numbers are as JavaScript reads them.'),
  check: opViewSchema
    .exactOptional()
    .describe('Of a message its query-back, of a recorded workflow its callback.'),
  records: z
    .array(recordViewSchema)
    .readonly()
    .exactOptional()
    .describe('Of a recorded workflow: the steps that its client has reported, the oldest first.'),
  workflow: workflowViewSchema.exactOptional(),
  plan: opViewSchema.exactOptional().describe('Of a workflow: its plan call.'),
  result: jsonValueSchema
    .exactOptional()
    .describe('Of a workflow that has succeeded: what its code returned.'),
  noReturnAt: instant('Since when the saga cannot be aborted any more.').exactOptional(),
  signals: z
    .array(receivedSignalViewSchema)
    .readonly()
    .exactOptional()
    .describe('The signals that a saga has got, the oldest first.'),
  branches: z.array(branchViewSchema).readonly(),
})

export const transactionViewSchema = transactionViewObject
  .readonly()
  .describe('A transaction with its branches.')

export const submitViewSchema = transactionViewObject
  .extend({ ack: z.enum(['durable', 'memory']).describe('How safe the accept was when this was sent.') })
  .readonly()
  .describe('The answer to a submit.')

export const signalViewSchema = z
  .object({
    gid: gidSchema,
    name: z.string(),
    id: z.string(),
    state: z
      .enum(['taken', 'kept'])
      .describe('kept: no wait of that name was open, and the next one to open takes it.'),
  })
  .readonly()
  .describe('The answer to a signal.')

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
    name: nameSchema.exactOptional(),
    tags: tagsSchema.exactOptional(),
    problem: problemTextSchema.exactOptional().describe('What it waits for, as in the view.'),
    attempts: count.exactOptional().describe('The attempts of the op that the problem names.'),
    paused: z.literal(true).exactOptional(),
    byHand: z.literal(true).exactOptional().describe('An op of it was declared done by a person.'),
    edited: z.literal(true).exactOptional().describe('An operator has changed a request of it.'),
  })
  .readonly()

export const transactionPageSchema = z
  .object({
    items: z.array(transactionSummarySchema).max(LIST_LIMIT_MAX).readonly(),
    cursor: z.string().exactOptional().describe('Opaque; pass it for the next page. Absent on the last one.'),
    searchedTo: instant(
      'How far the search has come, where the page is short and more may follow: an accept, or a due instant where that is the order.',
    ).exactOptional(),
  })
  .readonly()
  .describe('In the order that was asked for. A page may be short, even empty, and still have a cursor.')

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
    links: z
      .object({
        docs: z.string(),
        openApi: z.string(),
        ready: z.string(),
        console: z.string().exactOptional(),
      })
      .readonly(),
  })
  .readonly()

export const loginRequestSchema = z
  .object({
    key: z.string().describe('An API key of this server.'),
    person: z
      .string()
      .exactOptional()
      .describe('1–64 visible characters. It stands in the trail of each command, and is not proven.'),
    path: z
      .string()
      .exactOptional()
      .describe('Where the browser sees the root of the API, if a proxy has put a prefix before it.'),
  })
  .readonly()

const sessionShape = {
  via: z
    .enum(['console', 'api', 'local'])
    .describe('By a session, by a key, or local: this server asks for no keys.'),
  key: z.object({ id: z.string(), name: z.string() }).readonly().exactOptional(),
  person: z.string().exactOptional(),
  scopes: z.array(z.string()).readonly(),
  until: instant('When the session or the key ends.').exactOptional(),
}

export const sessionViewSchema = z.object(sessionShape).readonly()

export const loginViewSchema = z
  .object({
    ...sessionShape,
    secret: z
      .string()
      .exactOptional()
      .describe(
        'It belongs into the header counterstep-console, beside the cookie. Without it, this server asks for no keys.',
      ),
  })
  .readonly()

const breakShape = {
  service: z.string().exactOptional().describe('A named service, or the host of a URL with its port.'),
  url: z.string().exactOptional().describe('The URL of a branch, as the submit has it.'),
  urlPrefix: z.string().exactOptional(),
  branchId: z.string().exactOptional(),
  op: z.enum(OPS).exactOptional().describe('Absent: calls of every op are broken.'),
  next: z
    .number()
    .int()
    .min(0)
    .max(BREAK_CALLS_MAX)
    .describe('So many calls are broken. 0 takes breaks back.'),
  how: z.enum(BREAK_WAYS),
  lateMs: z.number().int().min(1).max(BREAK_LATE_MS_MAX).exactOptional(),
}

export const breakRequestSchema = z
  .object(breakShape)
  .readonly()
  .describe('Exactly one of service, url, urlPrefix and branchId says which calls are broken.')

export const devViewSchema = z
  .object({ breaks: z.array(z.object({ ...breakShape, id: z.string() }).readonly()).readonly() })
  .readonly()

export const livenessSchema = z.object({ status: z.literal('live') }).readonly()

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'not-ready']),
    reason: z.enum(['stopping', 'store-unavailable', 'store-full']).exactOptional(),
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
        commands: z
          .enum(['at-once', 'at-renewal'])
          .exactOptional()
          .describe(
            'When this server learns of a command that another one was given, where the store can tell.',
          ),
      })
      .readonly()
      .exactOptional(),
    inFlight: count.exactOptional(),
    inFlightMax: count.exactOptional(),
    insecure: z
      .array(z.string())
      .readonly()
      .exactOptional()
      .describe('The protections that were switched off by name at start.'),
  })
  .readonly()
  .describe(
    'Where the server has API keys, one with the scope read is shown all of it, and others status and reason.',
  )

/** Every schema that the OpenAPI document names, under its name there. */
export const NAMED_SCHEMAS = {
  Gid: gidSchema,
  JsonValue: jsonValueSchema,
  RetryPolicy: retryPolicySchema,
  SubmitRequest: submitRequestSchema,
  SagaSubmitRequest: sagaSubmitRequestSchema,
  SagaBranchRequest: sagaBranchRequestSchema,
  SagaWaitRequest: sagaWaitRequestSchema,
  SignalRequest: signalRequestSchema,
  CompensationRequest: compensationRequestSchema,
  UrlTemplate: urlTemplateSchema,
  Reference: referenceSchema,
  TccSubmitRequest: tccSubmitRequestSchema,
  TccBranchRequest: tccBranchRequestSchema,
  MessageSubmitRequest: messageSubmitRequestSchema,
  MessageBranchRequest: messageBranchRequestSchema,
  MessageCheckRequest: messageCheckRequestSchema,
  WorkflowSubmitRequest: workflowSubmitRequestSchema,
  AbortRequest: abortRequestSchema,
  CommandRequest: commandRequestSchema,
  StopRequest: stopRequestSchema,
  PauseRequest: pauseRequestSchema,
  SkipRequest: skipRequestSchema,
  EditRequest: editRequestSchema,
  PreviewRequest: previewRequestSchema,
  PlanView: planViewSchema,
  OpRequestView: opRequestViewSchema,
  TransactionRequestView: transactionRequestViewSchema,
  OpView: opViewSchema,
  AttemptRun: attemptRunSchema,
  BranchView: branchViewSchema,
  RecordView: recordViewSchema,
  AbortView: abortViewSchema,
  WorkflowView: workflowViewSchema,
  TransactionView: transactionViewSchema,
  SignalView: signalViewSchema,
  SubmitView: submitViewSchema,
  TransactionSummary: transactionSummarySchema,
  TransactionPage: transactionPageSchema,
  TrailEntry: trailEntrySchema,
  ProblemsView: problemsViewSchema,
  OverviewView: overviewViewSchema,
  ServicesView: servicesViewSchema,
  NamesView: namesViewSchema,
  SavedViewRequest: savedViewRequestSchema,
  SavedView: savedViewSchema,
  SavedViews: savedViewsSchema,
  PanelsView: panelsViewSchema,
  PanelView: panelViewSchema,
  BulkRequest: bulkRequestSchema,
  BulkPreview: bulkPreviewSchema,
  BulkView: bulkViewSchema,
  BulkListView: bulkListSchema,
  Fault: faultSchema,
  Problem: problemSchema,
  Root: rootSchema,
  LoginRequest: loginRequestSchema,
  SessionView: sessionViewSchema,
  LoginView: loginViewSchema,
  BreakRequest: breakRequestSchema,
  DevView: devViewSchema,
  Liveness: livenessSchema,
  Readiness: readinessSchema,
} as const satisfies Readonly<Record<string, z.ZodType>>
export type SchemaName = keyof typeof NAMED_SCHEMAS
