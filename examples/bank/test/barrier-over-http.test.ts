import { DatabaseSync } from 'node:sqlite'
import { auditBank } from '@counterstep/example-bank'
import type { Op } from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { debit, readBalance, type TestBank, temporaryFile, testBank } from './test-bank.ts'

const START_CENTS = 100_000

interface Row {
  /** These ops arrived before; `!` marks one with an amount that the business refuses. */
  readonly before: readonly string[]
  readonly arrives: Op
  readonly status: number
  readonly body: Record<string, unknown>
  /** These are all effects after the last arrival. */
  readonly effects: readonly string[]
}

const LATE = { code: 'ALREADY_COMPENSATED' }
const NULL = { nullCompensation: true }
const DEBITED = { account: 'alice', balanceCents: START_CENTS - 100 }
const RESTORED = { account: 'alice', balanceCents: START_CENTS }

const TABLE: readonly Row[] = [
  { before: [], arrives: 'action', status: 200, body: DEBITED, effects: ['action'] },
  { before: ['action'], arrives: 'action', status: 200, body: DEBITED, effects: ['action'] },
  { before: ['action!'], arrives: 'action', status: 200, body: DEBITED, effects: ['action'] },
  { before: ['compensate'], arrives: 'action', status: 409, body: LATE, effects: [] },
  {
    before: ['action', 'compensate'],
    arrives: 'action',
    status: 409,
    body: LATE,
    effects: ['action', 'compensate'],
  },
  { before: [], arrives: 'compensate', status: 200, body: NULL, effects: [] },
  { before: ['action!'], arrives: 'compensate', status: 200, body: NULL, effects: [] },
  {
    before: ['action'],
    arrives: 'compensate',
    status: 200,
    body: RESTORED,
    effects: ['action', 'compensate'],
  },
  {
    before: ['action', 'compensate'],
    arrives: 'compensate',
    status: 200,
    body: RESTORED,
    effects: ['action', 'compensate'],
  },
  { before: ['compensate'], arrives: 'compensate', status: 200, body: NULL, effects: [] },
  { before: ['compensate', 'action'], arrives: 'compensate', status: 200, body: NULL, effects: [] },
  { before: [], arrives: 'cancel', status: 200, body: NULL, effects: [] },
  { before: ['cancel'], arrives: 'try', status: 409, body: LATE, effects: [] },
  { before: ['try'], arrives: 'cancel', status: 200, body: RESTORED, effects: ['try', 'cancel'] },
]

async function arrive(bank: TestBank, step: string): Promise<void> {
  const op = step.replace('!', '') as Op
  await debit(bank, step.endsWith('!') ? { op, amountCents: START_CENTS + 1 } : { op })
}

function effectsIn(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('SELECT op FROM ledger ORDER BY seq').all()
  database.close()
  return rows.map(({ op }) => String(op))
}

describe('the truth table, through HTTP and a database', () => {
  for (const { before, arrives, status, body, effects } of TABLE) {
    it(`The op ${arrives} after ${before.join(', ') || 'nothing'} is answered with ${status}`, async () => {
      const bank = testBank()
      for (const step of before) await arrive(bank, step)
      expect(await debit(bank, { op: arrives })).toMatchObject({ status, body })
      expect(effectsIn(bank.path)).toEqual(effects)
      expect(await readBalance(bank)).toBe(START_CENTS - (effects.length === 1 ? 100 : 0))
    })
  }

  it('A business failure leaves no row, so that the same call may succeed later', async () => {
    const bank = testBank()
    expect(await debit(bank, { amountCents: START_CENTS + 1 })).toMatchObject({
      status: 409,
      body: { code: 'INSUFFICIENT_FUNDS' },
    })
    const database = new DatabaseSync(bank.path)
    expect(database.prepare('SELECT * FROM counterstep_barrier').all()).toEqual([])
    database.exec(`UPDATE account SET balance_cents = balance_cents * 2, initial_cents = initial_cents * 2`)
    database.close()
    expect((await debit(bank, { amountCents: START_CENTS + 1, attempt: 2 })).status).toBe(200)
  })

  it('A database error is answered with 500 and leaves nothing, and the next call succeeds', async () => {
    const errors: unknown[] = []
    const bank = testBank({ onError: (error) => errors.push(error) })
    const database = new DatabaseSync(bank.path)
    database.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'disk says no'); END`,
    )
    expect(await debit(bank)).toEqual({ status: 500, body: { code: 'ERR_SQLITE_ERROR' } })
    expect(errors).toHaveLength(1)
    expect(await readBalance(bank)).toBe(START_CENTS)
    database.exec('DROP TRIGGER broken')
    expect((await debit(bank, { attempt: 2 })).status).toBe(200)
    const log = database.prepare('SELECT attempt, status_code AS status FROM call_log ORDER BY seq').all()
    database.close()
    expect(log).toEqual([
      { attempt: 1, status: 500 },
      { attempt: 2, status: 200 },
    ])
  })
})

describe('calls at the same time', () => {
  it('Calls of one op at the same time have one effect and one answer', async () => {
    const bank = testBank({ latencyMs: () => 1 })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => debit(bank, { attempt: n + 1 })))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toEqual({ status: 200, body: DEBITED })
    expect(auditBank(bank.path)).toMatchObject({ effects: 1, calls: 50 })
  })

  it('An action and a compensation at the same time, on two connections to one file, take one of the two orders', async () => {
    const path = temporaryFile()
    const banks = [testBank({ path }), testBank({ path })] as const
    await Promise.all(banks.map(({ app }) => app.ready()))
    let turn = 0
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const gid = `gid-${n}`
        const order: Op[] =
          n % 2 === 0 ? ['action', 'compensate', 'action'] : ['compensate', 'action', 'compensate']
        await Promise.all(
          order.map((op) => debit(banks[(turn++ >> 1) % 2 === 0 ? 0 : 1], { gid, op, slowMs: n % 3 })),
        )
        await debit(banks[0], { gid, op: 'compensate' })
      }),
    )
    const audit = auditBank(path)
    expect(audit).toMatchObject({ wrongBalances: [], wrongOrders: [], repeatedEffects: [], calls: 400 })
    expect(audit.balanceCents).toBe(audit.initialCents)
    expect(audit.nullCompensations).toBeGreaterThan(0)
    expect(audit.lateActions).toBeGreaterThan(0)
    expect(audit.effects).toBeGreaterThan(0)
  })
})

describe('a restart', () => {
  it('A restart of the bank keeps what was done, what was answered and what is blocked', async () => {
    const path = temporaryFile()
    const first = testBank({ path })
    await debit(first, { gid: 'done' })
    await debit(first, { gid: 'blocked', op: 'compensate' })
    await first.app.close()
    const second = testBank({ path })
    expect(await debit(second, { gid: 'done' })).toEqual({ status: 200, body: DEBITED })
    expect(await debit(second, { gid: 'blocked' })).toMatchObject({ status: 409, body: LATE })
    expect(await readBalance(second)).toBe(START_CENTS - 100)
  })
})
