import { type Barrier, BranchFailure, createClient, isUnavailable, saga } from '@counterstep/sdk'
import { type BranchExpressRequest, branchHandler } from '@counterstep/sdk/express'
import { assertBranch } from '@counterstep/sdk/testing'
import express from 'express'
import type { AddressInfo } from 'node:net'

interface Move {
  readonly account: string
  readonly delta: number
}

const { memoryBarrier } = require('./memory-barrier.cjs') as { memoryBarrier(): Barrier<undefined> }

const cents: Record<string, number> = { alice: 100, bob: 0 }
const move = branchHandler(memoryBarrier(), (_tx, { op, payload }: { op: string; payload: Move }) => {
  const { account, delta } = payload
  if (!(account in cents)) throw new BranchFailure('no such account')
  cents[account] = (cents[account] ?? 0) + (op === 'action' ? delta : -delta)
})
const app = express().use(express.json({ limit: '1mb', strict: false }))
app.post('/move', move)

test('A saga between two branches succeeds, or is undone', async () => {
  const server = app.listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/move`
    const client = createClient({ url: process.env.COUNTERSTEP_URL ?? '' })
    const part = (account: string, delta: number) => ({
      action: url,
      compensation: url,
      payload: { account, delta },
    })
    for (const [to, status] of [
      ['bob', 'succeeded'],
      ['nobody', 'failed'],
    ] as const) {
      const transfer = saga({ deadlineMs: 60_000 })
        .branch('debit', part('alice', -5))
        .branch('credit', part(to, 5))
      expect((await client.submit(transfer, { waitMs: 20_000 })).status).toBe(status)
    }
    expect(cents).toEqual({ alice: 95, bob: 5 })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}, 60_000)

test('A connection error of Node is known as unavailable, though Jest has another Error', async () => {
  // No program may listen on this port.
  const client = createClient({ url: 'http://127.0.0.1:1', retryForMs: 0 })
  const error: unknown = await client.submit(saga().branch('a', { action: 'http://127.0.0.1:1/' })).catch(
    (reason: unknown) => reason,
  )
  expect(isUnavailable(error)).toBe(true)
})

export const handled: (request: BranchExpressRequest) => unknown = (request) => request.originalUrl
export const kit: object = assertBranch
