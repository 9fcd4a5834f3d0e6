import type {
  AbortRequest,
  CommandRequest,
  EditRequest,
  MessageSubmitRequest,
  PauseRequest,
  PlanView,
  PreviewRequest,
  ProblemsView,
  SagaSubmitRequest,
  SignalRequest,
  SignalView,
  SkipRequest,
  SubmitView,
  TccBranchRequest,
  TccSubmitRequest,
  TrailEntry,
  TransactionPage,
  TransactionRequestView,
  TransactionView,
  WorkflowSubmitRequest,
} from '@counterstep/protocol'

const ACCEPTED_AT = 1_795_132_800_000

export const submitExample: SagaSubmitRequest = {
  gid: 'order-4711',
  name: 'transfer',
  tags: { region: 'eu' },
  branches: [
    {
      id: 'debit',
      action: 'http://127.0.0.1:9001/debit',
      compensation: 'http://127.0.0.1:9001/debit/undo',
      payload: { account: 'alice', cents: 1250 },
    },
    {
      id: 'credit',
      action: 'http://127.0.0.1:9002/credit',
      compensation: 'http://127.0.0.1:9002/credit/undo',
      payload: { account: 'bob', cents: 1250 },
    },
  ],
  deadlineMs: 60_000,
}

export const approvalExample: SagaSubmitRequest = {
  gid: 'transfer-17',
  branches: [
    {
      id: 'hold',
      action: 'http://127.0.0.1:9001/holds',
      compensation: 'http://127.0.0.1:9001/release',
      payload: { cents: 5_000_000 },
    },
    { id: 'approved', wait: { signal: 'approval', timeoutMs: 172_800_000, onTimeout: 'abort' } },
    {
      id: 'pay',
      action: 'http://127.0.0.1:9001/capture',
      role: 'pivot',
      template: { hold: { $from: 'hold', at: '/id' }, by: { $from: 'approved', at: '/by' } },
    },
    { id: 'mail', action: 'http://127.0.0.1:9002/mail', role: 'retriable' },
  ],
}

export const signalExample: SignalRequest = { id: 'click-8', payload: { by: 'kim' } }
export const signalTakenExample: SignalView = {
  gid: 'transfer-17',
  name: 'approval',
  id: 'click-8',
  state: 'taken',
}

export const tccExample: TccSubmitRequest = { gid: 'trip-17', kind: 'tcc', deadlineMs: 35_000 }

export const registrationExample: TccBranchRequest = {
  id: 'hotel',
  confirm: 'http://127.0.0.1:9001/hotel/confirm',
  cancel: 'http://127.0.0.1:9001/hotel/cancel',
  payload: { room: 12, night: '2027-03-01' },
}

export const messageExample: MessageSubmitRequest = {
  gid: 'order-4711-paid',
  kind: 'message',
  branches: [{ id: 'ship', action: 'http://127.0.0.1:9002/ship', payload: { order: 4711 } }],
  check: { url: 'http://127.0.0.1:9001/query-back', afterMs: 35_000 },
}

export const workflowExample: WorkflowSubmitRequest = {
  gid: 'order-4713',
  kind: 'workflow',
  workflow: 'order',
  handler: 'http://127.0.0.1:9001/workflows',
  input: { sku: 'A-17', cents: 1250 },
}

export const abortRequestExample: AbortRequest = { reason: 'the customer has called it off' }

export const acceptedExample: SubmitView = {
  gid: 'order-4711',
  kind: 'saga',
  status: 'submitted',
  createdAt: ACCEPTED_AT,
  updatedAt: ACCEPTED_AT,
  deadlineAt: ACCEPTED_AT + 60_000,
  epoch: 1,
  branches: [
    {
      id: 'debit',
      after: [],
      ops: [{ op: 'action', state: 'calling', attempts: 1, startedAt: ACCEPTED_AT + 2 }],
    },
    { id: 'credit', after: ['debit'], ops: [{ op: 'action', state: 'idle', attempts: 0 }] },
  ],
  ack: 'durable',
}

const finished: TransactionView = {
  gid: 'order-4711',
  kind: 'saga',
  status: 'succeeded',
  createdAt: ACCEPTED_AT,
  updatedAt: ACCEPTED_AT + 19,
  deadlineAt: ACCEPTED_AT + 60_000,
  finishedAt: ACCEPTED_AT + 19,
  epoch: 1,
  branches: ['debit', 'credit'].map((id, index) => ({
    id,
    after: index === 0 ? [] : ['debit'],
    ops: [
      {
        op: 'action',
        url: `http://127.0.0.1:900${index + 1}/${id}`,
        state: 'succeeded',
        attempts: 1,
        result: 'success',
        statusCode: 200,
        answer: '{"ok":true}',
        startedAt: ACCEPTED_AT + 2 + 8 * index,
        endedAt: ACCEPTED_AT + 9 + 8 * index,
        durationMs: 7,
      },
    ],
  })),
}

export const finishedExample: TransactionView = finished
const answered = { state: 'succeeded', attempts: 1, result: 'success', statusCode: 200 } as const
export const finishedWorkflowExample: TransactionView = {
  gid: 'order-4713',
  kind: 'workflow',
  status: 'succeeded',
  createdAt: ACCEPTED_AT,
  updatedAt: ACCEPTED_AT + 40,
  finishedAt: ACCEPTED_AT + 40,
  epoch: 1,
  name: 'order',
  workflow: {
    name: 'order',
    version: 1,
    generation: 1,
    plan: 2,
    steps: 1,
    stepsMax: 1_000,
    journalBytes: 412,
    journalBytesMax: 1_048_576,
  },
  plan: { op: 'plan', url: 'http://127.0.0.1:9001/workflows', ...answered },
  result: { paymentId: 7 },
  branches: [
    {
      id: 'charge',
      after: [],
      is: 'call',
      name: 'http://127.0.0.1:9002/charges',
      rank: 1,
      ops: [{ op: 'action', url: 'http://127.0.0.1:9002/charges', ...answered }],
    },
  ],
}
export const finishedSubmitExample: SubmitView = { ...finished, ack: 'durable' }

const { ack: _, ...submitted } = acceptedExample
export const abortingExample: TransactionView = {
  ...submitted,
  status: 'aborting',
  abort: { cause: 'requested', at: ACCEPTED_AT + 40 },
}
const registered: TransactionView = {
  gid: 'trip-17',
  kind: 'tcc',
  status: 'prepared',
  createdAt: ACCEPTED_AT,
  updatedAt: ACCEPTED_AT + 5,
  deadlineAt: ACCEPTED_AT + 35_000,
  epoch: 1,
  branches: [
    {
      id: 'hotel',
      after: [],
      ops: [
        { op: 'confirm', url: 'http://127.0.0.1:9001/hotel/confirm', state: 'idle', attempts: 0 },
        { op: 'cancel', url: 'http://127.0.0.1:9001/hotel/cancel', state: 'idle', attempts: 0 },
      ],
    },
  ],
}
export const registeredExample: TransactionView = registered
export const submittedTccExample: TransactionView = { ...registered, status: 'submitted', epoch: 2 }
export const confirmedTccExample: TransactionView = {
  ...submittedTccExample,
  status: 'succeeded',
  finishedAt: ACCEPTED_AT + 90,
  branches: registered.branches.map((branch) => ({
    ...branch,
    ops: branch.ops.map((each) =>
      each.op === 'confirm'
        ? { ...each, state: 'succeeded', attempts: 1, result: 'success', statusCode: 200 }
        : each,
    ),
  })),
}

export const abortedExample: TransactionView = {
  ...abortingExample,
  status: 'failed',
  finishedAt: ACCEPTED_AT + 41,
}
export const retriedExample: TransactionView = submitted
export const stoppedExample: TransactionView = {
  ...submitted,
  status: 'stopped',
  finishedAt: ACCEPTED_AT + 40,
}

export const problemsExample: ProblemsView = {
  asOf: ACCEPTED_AT + 3_060_000,
  items: [
    { problem: 'bank-a compensate 500', waiting: 128, attention: 128, oldestAt: ACCEPTED_AT },
    { problem: 'ledger action timeout', waiting: 9, attention: 0, oldestAt: ACCEPTED_AT + 2_820_000 },
  ],
}

export const pageExample: TransactionPage = {
  items: [
    {
      gid: 'order-4711',
      kind: 'saga',
      status: 'submitted',
      createdAt: ACCEPTED_AT,
      updatedAt: ACCEPTED_AT,
      dueAt: ACCEPTED_AT + 10_000,
      epoch: 1,
      retrying: true,
      attention: true,
      name: 'transfer',
      tags: { region: 'eu' },
      problem: 'bank-a compensate 500',
      attempts: 52,
    },
  ],
  cursor: 'MTc5NTEzMjgwMDAwMC5vcmRlci00NzEx',
}

export const commandExample: CommandRequest = { commandId: 'kim-17', reason: 'the bank is back' }
export const stopRequestExample: CommandRequest = {
  commandId: 'kim-18',
  reason: 'the debit was booked back by hand, ticket 4711',
}
export const pauseRequestExample: PauseRequest = {
  commandId: 'kim-19',
  reason: 'the bank is restarted',
  until: ACCEPTED_AT + 3_600_000,
}
export const skipRequestExample: SkipRequest = {
  commandId: 'kim-20',
  doneBy: 'service',
  reason: 'the bank shows the booking',
  answer: { id: 'h-7' },
}
export const editRequestExample: EditRequest = {
  commandId: 'kim-21',
  url: 'http://127.0.0.1:9003/credit',
  reason: 'the bank has moved',
  confirm: 'no-call-took-effect',
}
export const previewRequestExample: PreviewRequest = { command: 'abort' }
export const planExample: PlanView = {
  planId: '5f1c0e9a77d3b2e4',
  exact: true,
  asOf: ACCEPTED_AT + 9_000,
  steps: [
    [{ branchId: 'credit', op: 'compensate', url: 'http://127.0.0.1:9002/credit/undo', ran: 'maybe' }],
    [{ branchId: 'debit', op: 'compensate', url: 'http://127.0.0.1:9001/debit/undo', ran: 'yes' }],
  ],
  cannotUndo: [],
  waitsFor: ['127.0.0.1:9002'],
  ends: 'failed',
  needs: [],
}

const BY = { key: { id: 'k7f2', name: 'ops' }, person: 'kim', via: 'console' } as const
function entry(command: TrailEntry['command'], change: Partial<TrailEntry>): TrailEntry {
  return { id: 'kim-17', at: ACCEPTED_AT + 9_000, by: BY, command, from: 'submitted', ...change }
}
export const pausedExample: TransactionView = {
  ...submitted,
  paused: { at: ACCEPTED_AT + 9_000, until: ACCEPTED_AT + 3_600_000, by: BY },
  trail: [entry('pause', { id: 'kim-19', reason: 'the bank is restarted' })],
}
const op = { branchId: 'debit', op: 'action' } as const
export const skippedExample: TransactionView = {
  ...submitted,
  trail: [
    entry('skip', { id: 'kim-20', op, reason: 'the bank shows the booking', after: 'done by the service' }),
  ],
}
export const editedExample: TransactionView = {
  ...submitted,
  trail: [
    entry('edit', {
      id: 'kim-21',
      op,
      reason: 'the bank has moved',
      before: 'as submitted',
      after: 'url http://127.0.0.1:9003/credit',
    }),
  ],
}
export const requestExample: TransactionRequestView = {
  gid: 'order-4711',
  kind: 'saga',
  submit: {
    kind: 'saga',
    branches: [
      { id: 'debit', action: 'http://127.0.0.1:9001/debit', payload: { account: 'alice', cents: 1250 } },
    ],
  },
  ops: [
    {
      branchId: 'debit',
      op: 'action',
      method: 'POST',
      url: 'http://127.0.0.1:9001/debit',
      body: '{"account":"alice","cents":1250}',
      contentType: 'application/json',
      headers: {},
      timeoutMs: 10_000,
    },
  ],
}
