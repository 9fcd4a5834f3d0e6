import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { answerBranch, type Barrier, type BranchHandler, type BranchHandlerOptions } from '../../src/index.ts'

interface Transfer {
  lines: string[]
  more?: { note: string }
}

/** Its database has chosen the first transaction as the victim of a deadlock. */
const repeating: Barrier<undefined> = {
  run: async (_call, effect) => {
    await effect(undefined, { holdId: 7 })
    const answer = JSON.stringify(await effect(undefined, { holdId: 7 }))
    return answer === undefined ? { decision: 'run' } : { decision: 'run', answer }
  },
}

async function call<Payload>(
  handler: BranchHandler<undefined, Payload, unknown, { holdId?: number }>,
  payload: unknown,
  options: BranchHandlerOptions<Payload> = {},
) {
  const url = '/debit?gid=g1&trans_type=saga&branch_id=01&op=compensate'
  const { answer, error } = await answerBranch(
    repeating,
    handler,
    { url, headers: { tenant: 'a' }, payload },
    options,
  )
  expect([answer.statusCode, error]).toEqual([200, undefined])
  return answer.body
}

it.each<[string, BranchHandlerOptions<Transfer>]>([
  ['without parse', {}],
  ['with a parse that returns what it gets', { parse: (payload) => payload as Transfer }],
])('A run after a deadlock gets the payload as it came, %s', async (_title, options) => {
  const seen: string[][] = []
  const body = await call<Transfer>(
    (_tx, { payload }) => {
      expect(payload.more).toEqual({ note: 'x' })
      if (payload.more !== undefined) payload.more.note = 'y'
      delete payload.more
      const lines: string[] = []
      while (payload.lines.length > 0) lines.push(payload.lines.shift() ?? '')
      seen.push(lines)
      return lines.length
    },
    { lines: ['alice', 'bob'], more: { note: 'x' } },
    options,
  )
  expect([seen, body]).toEqual([
    [
      ['alice', 'bob'],
      ['alice', 'bob'],
    ],
    '2',
  ])
})

it('A run after a deadlock gets a branch of its own, with its headers and its original', async () => {
  const seen: unknown[] = []
  await call((_tx, branch) => {
    const { headers, original } = branch
    seen.push([branch.gid, headers.tenant, original?.holdId])
    Object.assign(branch, { gid: 'g2' })
    Object.assign(headers, { tenant: 'b' })
    delete original?.holdId
  }, undefined)
  expect(seen).toEqual([
    ['g1', 'a', 7],
    ['g1', 'a', 7],
  ])
})

it.each<[string, () => unknown]>([
  ['an object of another realm', () => runInNewContext('({ list: [1, 2] })')],
  ['an object without a prototype', () => Object.assign(Object.create(null), { list: [1, 2] })],
  ['an object with a key __proto__', () => JSON.parse('{ "__proto__": { "x": 1 }, "list": [1, 2] }')],
])('A run after a deadlock gets the payload as it came: %s', async (_title, make) => {
  const seen: unknown[] = []
  await call<{ list: number[] }>((_tx, { payload }) => {
    seen.push(JSON.stringify(payload))
    payload.list.length = 0
    Object.assign(payload, { more: 1 })
  }, make())
  expect(seen).toEqual([JSON.stringify(make()), JSON.stringify(make())])
})

it('A run after a deadlock gets the bytes as they came', async () => {
  const seen: unknown[] = []
  await call<Buffer>((_tx, { payload }) => {
    seen.push(Buffer.isBuffer(payload) && payload.toString())
    payload.fill(0)
  }, Buffer.from('bytes'))
  expect(seen).toEqual(['bytes', 'bytes'])
})

it('A value of a class of its own stays the same one, and so does a payload that is a part of itself', async () => {
  class Money {
    readonly cents = 5
  }
  const payload: Record<string, unknown> = { money: new Money() }
  await call<typeof payload>((_tx, branch) => {
    expect(branch.payload).not.toBe(payload)
    expect(branch.payload.money).toBe(payload.money)
  }, payload)
  payload.self = payload
  await call((_tx, branch) => void expect(branch.payload).toBe(payload), payload)
})

it('A payload that nests a hundred thousand levels deep reaches its handler', async () => {
  let payload: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) payload = [payload]
  await call((_tx, branch) => void expect(Array.isArray(branch.payload)).toBe(true), payload)
})
