import type { OpView, TransactionView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { toGhosts } from './ghosts.ts'

const done = (startedAt: number, endedAt: number): OpView => ({
  op: 'action',
  state: 'succeeded',
  attempts: 1,
  startedAt,
  endedAt,
  durationMs: endedAt - startedAt,
})
const HEALTHY: TransactionView = {
  gid: 'healthy',
  kind: 'saga',
  status: 'succeeded',
  createdAt: 1_000,
  updatedAt: 1_060,
  finishedAt: 1_060,
  epoch: 1,
  branches: [
    { id: 'debit', after: [], ops: [done(1_010, 1_022), { op: 'compensate', state: 'idle', attempts: 0 }] },
    {
      id: 'credit',
      after: ['debit'],
      ops: [
        {
          ...done(1_025, 1_055),
          attempts: 2,
          durationMs: 5,
          runs: [{ outcome: '500', from: 1, count: 1, firstAt: 1_026, lastAt: 1_030 }],
        },
      ],
    },
    { id: 'mail', after: ['credit'], ops: [{ op: 'action', state: 'idle', attempts: 0 }] },
  ],
}

it('The ops of another transaction lie where they would, had both been accepted at one instant', () => {
  expect([...toGhosts(HEALTHY, 50_000)]).toEqual([
    ['debit.action', { from: 50_010, to: 50_022 }],
    ['credit.action', { from: 50_025, to: 50_055 }],
  ])
})
