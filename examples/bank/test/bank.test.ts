import { DatabaseSync } from 'node:sqlite'
import { auditBank } from '@counterstep/example-bank'
import { describe, expect, it } from 'vitest'
import { debit, readBalance, testBank } from './test-bank.ts'

describe('the refusals of the bank', () => {
  const rows: readonly (readonly [string, Parameters<typeof debit>[1], string])[] = [
    ['of an unknown account', { account: 'nobody' }, 'ACCOUNT_UNKNOWN'],
    ['of a frozen account', { account: 'frozen' }, 'ACCOUNT_FROZEN'],
    ['of more money than the account has', { amountCents: 100_001 }, 'INSUFFICIENT_FUNDS'],
    ['of no money', { amountCents: 0 }, 'PAYLOAD_INVALID'],
    ['of a negative amount', { amountCents: -1 }, 'PAYLOAD_INVALID'],
    ['of a part of a cent', { amountCents: 0.5 }, 'PAYLOAD_INVALID'],
    ['that asks for too long a wait', { slowMs: 60_001 }, 'PAYLOAD_INVALID'],
  ]
  for (const [what, call, code] of rows) {
    it(`A debit ${what} is answered with 409`, async () => {
      const bank = testBank()
      expect(await debit(bank, call)).toMatchObject({ status: 409, body: { code } })
      expect(auditBank(bank.path)).toMatchObject({ effects: 0, calls: 1 })
    })
  }
})

describe('the bank', () => {
  it('The bank gives the last cent and not one more', async () => {
    const bank = testBank()
    expect((await debit(bank, { amountCents: 100_000 })).body).toEqual({ account: 'alice', balanceCents: 0 })
    expect((await debit(bank, { gid: 'gid-2', amountCents: 1 })).status).toBe(409)
  })

  it('The database refuses a balance below zero', () => {
    const bank = testBank()
    const database = new DatabaseSync(bank.path)
    expect(() => database.exec('UPDATE account SET balance_cents = -1')).toThrow(/CHECK/)
    database.close()
  })

  it('A debit is undone on an account that was frozen since', async () => {
    const bank = testBank()
    await debit(bank)
    const database = new DatabaseSync(bank.path)
    database.exec(`UPDATE account SET frozen = 1 WHERE id = 'alice'`)
    database.close()
    expect((await debit(bank, { op: 'compensate' })).status).toBe(200)
    expect(await readBalance(bank)).toBe(100_000)
  })

  it('A credit is made, and its compensation takes it back', async () => {
    const bank = testBank()
    const call = (path: string, op: string) =>
      bank.app.inject({
        method: 'POST',
        url: path,
        query: { gid: 'a/b?c#d%e&f+g', trans_type: 'saga', branch_id: '02', op },
        payload: { account: 'bob', amountCents: 5 },
      })
    expect((await call('/credit', 'action')).json()).toEqual({ account: 'bob', balanceCents: 100_005 })
    expect((await call('/credit-undo', 'compensate')).json()).toEqual({
      account: 'bob',
      balanceCents: 100_000,
    })
  })

  it('A hold takes money aside once, and is captured or released, and never both', async () => {
    const bank = testBank()
    const payload = { account: 'alice', amountCents: 300 }
    const call = (gid: string, branchId: string, path: string, op = 'action') =>
      bank.app.inject({
        method: 'POST',
        url: path,
        query: { gid, trans_type: 'saga', branch_id: branchId, op },
        payload: path === '/holds' ? payload : {},
      })
    const held = await call('g-1', 'hold', '/holds')
    expect(await readBalance(bank)).toBe(99_700)
    // The barrier answers a repeat as the first call, so there is still one hold.
    expect((await call('g-1', 'hold', '/holds')).body).toBe(held.body)
    const { holdId } = held.json<{ holdId: string }>()
    expect((await call('g-1', 'pay', `/holds/${holdId}/capture`)).json()).toEqual({
      holdId,
      amountCents: 300,
    })
    expect((await call('g-2', 'pay', `/holds/${holdId}/capture`)).json()).toMatchObject({
      code: 'HOLD_NOT_OPEN',
    })
    await call('g-3', 'hold', '/holds')
    expect((await call('g-3', 'hold', '/holds/release', 'compensate')).statusCode).toBe(200)
    expect((await call('g-4', 'hold', '/holds/release', 'compensate')).json()).toEqual({
      nullCompensation: true,
    })
    expect(await readBalance(bank)).toBe(99_700)
    expect(auditBank(bank.path)).toMatchObject({ wrongBalances: [], repeatedEffects: [], wrongOrders: [] })
  })

  it('A debit that is refused as a pivot stays refused, also when there is money', async () => {
    const bank = testBank()
    const call = (gid: string, path: string, headers = {}) =>
      bank.app.inject({
        method: 'POST',
        url: path,
        query: { gid, trans_type: 'saga', branch_id: 'pay', op: 'action' },
        headers,
        payload: { account: 'alice', amountCents: 150_000 },
      })
    const pivot = { 'counterstep-undo': 'none' }
    expect((await call('g-1', '/debit', pivot)).statusCode).toBe(409)
    expect((await call('g-2', '/credit')).statusCode).toBe(200)
    expect((await call('g-1', '/debit', pivot)).json()).toMatchObject({ code: 'ALREADY_COMPENSATED' })
    expect(await readBalance(bank)).toBe(250_000)
    expect((await call('g-3', '/debit', pivot)).statusCode).toBe(200)
    expect(auditBank(bank.path)).toMatchObject({ wrongBalances: [], repeatedEffects: [], wrongOrders: [] })
  })

  it('The bank shows its health, an account and the list of its accounts', async () => {
    const { app } = testBank({ name: 'bank-a' })
    expect((await app.inject('/health')).json()).toEqual({ status: 'ok', name: 'bank-a' })
    expect((await app.inject('/accounts/frozen')).json()).toEqual({
      id: 'frozen',
      balanceCents: 100_000,
      frozen: true,
    })
    expect((await app.inject('/accounts/nobody')).statusCode).toBe(404)
    const ids = (await app.inject('/accounts')).json<{ items: { id: string }[] }>().items.map(({ id }) => id)
    expect(ids).toEqual(['alice', 'bob', 'carol', 'frozen'])
    expect((await app.inject('/accounts?after=bob')).json().items).toHaveLength(2)
  })

  for (const [what, query] of [
    ['without a gid', { branch_id: '01', op: 'action' }],
    ['without an op', { gid: 'g', branch_id: '01' }],
    ['with an unknown op', { gid: 'g', branch_id: '01', op: 'steal' }],
    ['with two gids', { gid: ['g', 'h'], branch_id: '01', op: 'action' }],
  ] as const) {
    it(`A call ${what} is refused with 400`, async () => {
      const { app } = testBank()
      const params = new URLSearchParams({ trans_type: 'saga' })
      for (const [name, value] of Object.entries(query)) {
        for (const one of [value].flat()) params.append(name, one)
      }
      const payload = { account: 'alice', amountCents: 1 }
      const response = await app.inject({ method: 'POST', url: `/debit?${params}`, payload })
      expect(response.statusCode).toBe(400)
    })
  }

  it('A call with the op of another route is refused and does nothing', async () => {
    const bank = testBank()
    const { status, body } = await debit(bank, { op: 'compensate', path: '/debit' })
    expect([status, body.code]).toEqual([409, 'BRANCH_OP_NOT_SERVED'])
    expect(auditBank(bank.path)).toMatchObject({ effects: 0, nullCompensations: 0 })
  })

  it('A reused gid is refused, and its compensation undoes nothing of the earlier transaction', async () => {
    const bank = testBank()
    const DAY_MS = 24 * 3_600_000
    await debit(bank, { acceptedAt: Date.now() - 8 * DAY_MS })
    expect(await debit(bank, { acceptedAt: Date.now() })).toMatchObject({
      status: 409,
      body: { code: 'GID_REUSED' },
    })
    expect((await debit(bank, { op: 'compensate', acceptedAt: Date.now() })).status).toBe(200)
    expect(await readBalance(bank)).toBe(99_900)
  })

  it('A test can answer for the bank before the effect and after it', async () => {
    const bank = testBank({
      intercept: (origin, handle) => {
        if (origin.attempt === 1) return { statusCode: 503, body: '{}' }
        const answer = handle()
        return origin.attempt === 2 ? { statusCode: 500, body: '{"lost":true}' } : answer
      },
    })
    expect((await debit(bank, { attempt: 1 })).status).toBe(503)
    expect(auditBank(bank.path).effects).toBe(0)
    expect((await debit(bank, { attempt: 2 })).status).toBe(500)
    expect(await debit(bank, { attempt: 3 })).toEqual({
      status: 200,
      body: { account: 'alice', balanceCents: 99_900 },
    })
    expect(auditBank(bank.path).effects).toBe(1)
  })

  it('Every balance stays equal to its start plus its ledger', async () => {
    const bank = testBank()
    for (let n = 0; n < 60; n++) {
      const account = ['alice', 'bob', 'carol', 'frozen'][n % 4] ?? ''
      const op = n % 5 === 0 ? 'compensate' : 'action'
      await debit(bank, { gid: `gid-${n % 37}`, op, account, amountCents: (n * 7919) % 60_000 })
    }
    const audit = auditBank(bank.path)
    expect(audit).toMatchObject({ calls: 60, wrongBalances: [], repeatedEffects: [], wrongOrders: [] })
    expect(audit.effects).toBeGreaterThan(10)
  })
})

describe('the audit', () => {
  const frauds: readonly (readonly [string, string, string])[] = [
    ['a balance that no ledger explains', 'UPDATE account SET balance_cents = 1', 'wrongBalances'],
    [
      'an effect twice',
      `INSERT INTO ledger SELECT NULL, gid, branch_id, op, account, 0, 0 FROM ledger`,
      'repeatedEffects',
    ],
    ['an undo without its action', `UPDATE ledger SET op = 'compensate'`, 'wrongOrders'],
    [
      'an action after a null compensation',
      `UPDATE counterstep_barrier SET reason = 'compensate'`,
      'wrongOrders',
    ],
  ]
  for (const [what, sql, list] of frauds) {
    it(`The audit of the bank finds ${what}`, async () => {
      const bank = testBank()
      await debit(bank)
      const database = new DatabaseSync(bank.path)
      database.exec(sql)
      database.close()
      expect(auditBank(bank.path)).toHaveProperty(
        `${list}.length`,
        expect.toSatisfy((found: number) => found > 0),
      )
    })
  }
})
