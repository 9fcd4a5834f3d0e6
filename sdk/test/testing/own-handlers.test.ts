import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { branchHandler as expressHandler } from '../../src/express.ts'
import { branchHandler as fastifyHandler } from '../../src/fastify.ts'
import { answerBranch, type Branch, BranchFailure } from '../../src/index.ts'
import {
  assertBranch,
  type BranchCheck,
  type BranchService,
  type BranchUnderTest,
  checkBranch,
} from '../../src/testing/index.ts'

interface Payload {
  readonly account: string
  readonly cents: number
}

/** This is the account service of the README, with what a test of it gives to the kit. */
class Bank {
  readonly database = new DatabaseSync(':memory:')
  readonly barrier = sqliteBarrier(this.database)

  constructor() {
    migrateBarrier(this.database)
    this.database.exec(`
      CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0)) STRICT;
      INSERT INTO account VALUES ('alice', 10000)`)
  }

  readonly debit = (tx: DatabaseSync, branch: Branch<Payload>) => this.#move(tx, branch, -1)
  readonly credit = (tx: DatabaseSync, branch: Branch<Payload>) => this.#move(tx, branch, 1)

  #move(tx: DatabaseSync, { payload: { account, cents } }: Branch<Payload>, sign: 1 | -1) {
    const delta = sign * cents
    const sql = 'UPDATE account SET cents = cents + ? WHERE id = ? AND cents + ? >= 0'
    if (tx.prepare(sql).run(delta, account, delta).changes === 0) {
      throw new BranchFailure('not enough money', { code: 'INSUFFICIENT_FUNDS' })
    }
    return { receipt: crypto.randomUUID() }
  }

  underTest(service: BranchService): BranchUnderTest {
    return {
      service,
      action: '/debit',
      compensation: '/credit',
      payload: { account: 'alice', cents: 100 },
      refusedPayload: { account: 'alice', cents: 1_000_000 },
      isPivot: true,
      read: () => this.database.prepare('SELECT cents FROM account').all(),
      lingerMs: 50,
      drain: () => this.database.exec('UPDATE account SET cents = 0'),
      outage: {
        begin: () => this.database.exec('ALTER TABLE account RENAME TO away'),
        end: () => this.database.exec('ALTER TABLE away RENAME TO account'),
      },
    }
  }
}

function expressApp(
  make: typeof express,
  { barrier, debit, credit }: Bank,
  parser = make.json({ limit: '1mb', strict: false }),
) {
  const app = make()
  // In this setting its own error handler prints nothing.
  app.set('env', 'test')
  app.use(parser)
  app.post('/debit', expressHandler(barrier, debit))
  app.post('/credit', expressHandler(barrier, credit))
  return app
}

function fastifyApp({ barrier, debit, credit }: Bank) {
  const app = fastify()
  app.post('/debit', fastifyHandler(barrier, debit))
  app.post('/credit', fastifyHandler(barrier, credit))
  return app
}

/** Expects all checks but one to have passed: the result of an action that takes cannot be spent. */
function everything(checks: readonly BranchCheck[], others: readonly string[] = ['spent']): void {
  expect(checks.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name)).toEqual(others)
}

describe('the test kit on handlers of this SDK', () => {
  it('A Fastify service in process passes the test kit, in each kind of transaction', async () => {
    for (const kind of ['saga', 'tcc'] as const) {
      const bank = new Bank()
      const { checks } = await assertBranch({ ...bank.underTest({ fastify: fastifyApp(bank) }), kind })
      everything(checks, kind === 'saga' ? undefined : ['kept-refusal', 'spent'])
      const ops = checks[0]?.evidence.flatMap((step) => (step.step === 'call' ? [step.op] : []))
      expect(ops).toEqual(kind === 'saga' ? ['action', 'compensate'] : ['try', 'cancel'])
    }
  })

  for (const [name, make] of [
    ['Express 5', express],
    ['Express 4', express4 as typeof express],
  ] as const) {
    it(`An ${name} service in process passes the test kit`, async () => {
      const bank = new Bank()
      const { checks } = await assertBranch(bank.underTest({ listener: expressApp(make, bank) }))
      everything(checks)
    })
  }

  it("The test kit finds bounds of a body parser that are tighter than the orchestrator's", async () => {
    for (const [parser, found] of [
      [express.json({ strict: false }), /204800 bytes was answered 413; .*limit: '1mb'/],
      [express.json({ limit: '1mb' }), /JSON text was answered 400, and 200 with a list; .*strict: false/],
    ] as const) {
      const bank = new Bank()
      const { violations } = await checkBranch(
        bank.underTest({ listener: expressApp(express, bank, parser) }),
      )
      expect(violations.map(({ code }) => code)).toEqual(['PAYLOAD_REFUSED'])
      expect(violations[0]?.found).toMatch(found)
    }
  })

  it('A service may say that its payloads are smaller', async () => {
    const bank = new Bank()
    const parser = express.json({ strict: false })
    const branch = bank.underTest({ listener: expressApp(express, bank, parser) })
    everything((await assertBranch({ ...branch, payloadBytesMax: 100_000 })).checks)
  })

  it('A service that answers like fetch passes the test kit', async () => {
    const bank = new Bank()
    const fetch = async (request: Request) => {
      const url = new URL(request.url)
      const payload: unknown = await request.json().catch(() => undefined)
      const { answer } = await answerBranch(
        bank.barrier,
        url.pathname === '/debit' ? bank.debit : bank.credit,
        {
          url: url.href,
          headers: request.headers,
          payload,
        },
      )
      return new Response(answer.body ?? null, { status: answer.statusCode, headers: { ...answer.headers } })
    }
    const { checks } = await assertBranch(bank.underTest({ fetch }))
    everything(checks)
  })

  it('A running service passes the test kit, by a base URL or by whole URLs', async () => {
    const bank = new Bank()
    const app = fastifyApp(bank)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const { checks } = await assertBranch(bank.underTest({ url }))
    everything(checks)
    bank.database.exec('UPDATE account SET cents = 10000')
    const elsewhere = { url: 'http://127.0.0.1:9/' }
    const whole = { ...bank.underTest(elsewhere), action: `${url}/debit`, compensation: `${url}/credit` }
    expect((await assertBranch(whole)).ok).toBe(true)
    await app.close()
  })

  it('A route that serves both ops passes the test kit', async () => {
    const bank = new Bank()
    const server = createServer()
    const app = fastify({ serverFactory: (handler) => server.on('request', handler) })
    const both = (tx: DatabaseSync, branch: Branch<Payload>) =>
      branch.op === 'action' ? bank.debit(tx, branch) : bank.credit(tx, branch)
    app.post('/transfer', fastifyHandler(bank.barrier, both))
    await app.ready()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    await assertBranch({
      ...bank.underTest({ url }),
      action: '/transfer',
      compensation: '/transfer?undo=yes',
    })
    await app.close()
  })
})
