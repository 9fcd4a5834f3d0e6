import type { OpView, PlanView, TransactionView } from '@counterstep/protocol'
import { NOW } from './run-line.ts'

const HOUR_MS = 3_600_000

const op = (more: Partial<OpView>): OpView => ({ op: 'action', state: 'succeeded', attempts: 1, ...more })

/** The saga of the design: its credit was refused, and its debit cannot be undone for an hour. */
export const STUCK: TransactionView = {
  gid: 'order-4711',
  kind: 'saga',
  name: 'transfer',
  tags: { region: 'eu', tier: '2' },
  status: 'aborting',
  createdAt: NOW - HOUR_MS,
  updatedAt: NOW - 20_000,
  epoch: 3,
  problem: 'bank-a compensate 500',
  attention: 'compensation of branch debit was answered 10 times without success',
  abort: { cause: 'branch-failed', branchId: 'credit', at: NOW - HOUR_MS + 90, message: 'account frozen' },
  trail: [
    {
      id: 'c1',
      at: NOW - 600_000,
      by: { key: { id: 'k1', name: 'ops' }, person: 'kim', via: 'console' },
      command: 'retry-op',
      op: { branchId: 'debit', op: 'compensate' },
      reason: 'bank-a is restarted',
      from: 'aborting',
      count: 2,
    },
  ],
  branches: [
    {
      id: 'debit',
      after: [],
      ops: [
        op({ startedAt: NOW - HOUR_MS, endedAt: NOW - HOUR_MS + 30, durationMs: 30, statusCode: 200 }),
        op({
          op: 'compensate',
          state: 'waiting',
          attempts: 52,
          service: 'bank-a',
          url: 'bank-a:/debit-undo',
          result: 'unknown',
          statusCode: 500,
          answer: '{"error":"lock wait timeout"}',
          startedAt: NOW - HOUR_MS + 100,
          endedAt: NOW - 20_000,
          durationMs: 1_004,
          nextAt: NOW + 41_000,
          runs: [
            { outcome: 'refused', from: 1, count: 40, firstAt: NOW - HOUR_MS + 100, lastAt: NOW - 1_000_000 },
            {
              outcome: '500',
              from: 41,
              count: 12,
              firstAt: NOW - 900_000,
              lastAt: NOW - 20_000,
              excerpt: '{"error":"lock wait timeout"}',
            },
          ],
        }),
      ],
    },
    {
      id: 'credit',
      after: ['debit'],
      ops: [
        op({
          state: 'failed',
          result: 'failure',
          statusCode: 409,
          startedAt: NOW - HOUR_MS + 40,
          endedAt: NOW - HOUR_MS + 80,
          durationMs: 40,
        }),
        op({
          op: 'compensate',
          startedAt: NOW - HOUR_MS + 91,
          endedAt: NOW - HOUR_MS + 99,
          durationMs: 8,
        }),
      ],
    },
  ],
}

/** A workflow whose code was changed while it ran: its reservation and its charge are done, and its third plan is refused. */
export const PLANNED: TransactionView = {
  gid: 'order-4713',
  kind: 'workflow',
  status: 'submitted',
  createdAt: NOW - 60_000,
  updatedAt: NOW - 10_000,
  epoch: 1,
  problem: 'order plan WORKFLOW_CHANGED',
  attention: 'the plan was refused with WORKFLOW_CHANGED: charge was a call, and is a step',
  workflow: {
    name: 'order',
    version: 1,
    generation: 1,
    plan: 3,
    steps: 3,
    stepsMax: 1_000,
    journalBytes: 2_100,
    journalBytesMax: 1_048_576,
  },
  plan: op({
    op: 'plan',
    url: 'shop:/workflows',
    service: 'shop',
    state: 'waiting',
    attempts: 2,
    result: 'unknown',
    statusCode: 200,
    error: 'WORKFLOW_CHANGED',
    startedAt: NOW - 59_000,
    endedAt: NOW - 10_000,
    durationMs: 12,
    nextAt: NOW + 50_000,
    runs: [{ outcome: 'WORKFLOW_CHANGED', from: 1, count: 2, firstAt: NOW - 59_000, lastAt: NOW - 10_000 }],
  }),
  branches: [
    {
      id: '~1',
      stepId: 'reserve',
      is: 'step',
      name: 'reserve',
      rank: 1,
      after: [],
      ops: [op({ startedAt: NOW - 59_900, endedAt: NOW - 59_800, durationMs: 100, statusCode: 200 })],
    },
    { id: 'quote', is: 'run', rank: 2, after: [], ops: [op({ url: '', attempts: 0 })] },
    {
      id: 'charge',
      is: 'call',
      rank: 2,
      after: [],
      ops: [op({ startedAt: NOW - 59_600, endedAt: NOW - 59_300, durationMs: 300, statusCode: 200 })],
    },
  ],
}

export const PLAN: PlanView = {
  planId: 'plan-1',
  exact: true,
  asOf: NOW - 3_000,
  steps: [
    [{ branchId: 'credit', op: 'compensate', url: 'ledger:/credit-undo', ran: 'maybe' }],
    [{ branchId: 'debit', op: 'compensate', url: 'bank-a:/debit-undo', ran: 'yes' }],
  ],
  cannotUndo: ['mail'],
  waitsFor: ['ledger'],
  ends: 'failed',
  needs: ['reason'],
}
