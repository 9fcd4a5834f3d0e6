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
