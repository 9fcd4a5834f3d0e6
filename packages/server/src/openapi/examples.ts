import type {
  AbortRequest,
  MessageSubmitRequest,
  ProblemsView,
  SagaSubmitRequest,
  SignalRequest,
  SignalView,
  SubmitView,
  TccBranchRequest,
  TccSubmitRequest,
  TransactionPage,
  TransactionView,
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
