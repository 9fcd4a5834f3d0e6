import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  answerBranch,
  answerQueryBack,
  answerWorkflow,
  BranchFailure,
  BranchOngoing,
  endpoint,
  saga,
  step,
  workflow,
} from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { silentLogger } from '@counterstep/server/logger'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type CounterstepOptions,
  createCounterstep,
  type InProcessBranch,
  type InProcessCall,
  type OwnCounterstep,
} from '../src/index.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-in-process-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const answering =
  (statusCode: number, body = '{}', headers: Record<string, string> = {}): InProcessBranch =>
  () => ({ answer: { statusCode, body, headers } })

async function own(
  shop: Readonly<Record<string, InProcessBranch>>,
  more: Partial<CounterstepOptions> = {},
): Promise<OwnCounterstep> {
  const counterstep = await createCounterstep({
    store: (onEvent) => openSqliteStore({ path: join(folder, 'own.db'), onEvent }),
    branches: { shop },
    logger: silentLogger,
    ...more,
  })
  await counterstep.start()
  return counterstep
}

const quickly = { retry: { initialMs: 20, factor: 1 } } as const

function throwFault(): never {
  throw new Error('a fault')
}

describe('branches that are functions of this process', () => {
  it('A saga of them ends behind the barrier in their own database, each effect once', async () => {
    const database = new DatabaseSync(join(folder, 'shop.db'))
    database.exec('CREATE TABLE stock (item TEXT PRIMARY KEY, count INTEGER NOT NULL)')
    database.exec("INSERT INTO stock VALUES ('book', 5)")
    migrateBarrier(database)
    const barrier = sqliteBarrier(database)
    const move: InProcessBranch = (call) =>
      answerBranch(
        barrier,
        (tx, branch) => {
          const { item, count } = branch.payload as { item: string; count: number }
          if (branch.op === 'action' && count > 3) throw new BranchFailure('not that many')
          const by = branch.op === 'action' ? -count : count
          tx.prepare('UPDATE stock SET count = count + ? WHERE item = ?').run(by, item)
          return { moved: by }
        },
        call,
      )
    await using counterstep = await own({ '/move': move })
    const order = (count: number) => {
      const both = { action: 'shop:/move', compensation: 'shop:/move' }
      return saga()
        .branch('first', { ...both, payload: { item: 'book', count: 2 } })
        .branch('second', { ...both, payload: { item: 'book', count } })
    }
    const read = () => database.prepare('SELECT count FROM stock').get()
    expect(await counterstep.submit(order(1), { waitMs: 10_000 })).toMatchObject({ status: 'succeeded' })
    expect(read()).toEqual({ count: 2 })
    const refused = await counterstep.submit(order(4), { waitMs: 10_000 })
    expect(refused).toMatchObject({ status: 'failed', abort: { cause: 'branch-failed' } })
    expect(read()).toEqual({ count: 2 })
    database.close()
  })

  it('A call has the identity, the headers, the trace and the payload that it has over HTTP', async () => {
    const calls: InProcessCall[] = []
    const note: InProcessBranch = (call) => {
      calls.push(call)
      return { answer: { statusCode: 200 } }
    }
    await using counterstep = await own({ '/note': note })
    // A tool that traces requests over HTTP adds no headers to these calls.
    const onRequest = () => undefined
    subscribe('undici:request:create', onRequest)
    onTestFinished(() => void unsubscribe('undici:request:create', onRequest))
    const trace = '0af7651916cd43dd8448eb211c80319c'
    await counterstep.submit(
      {
        gid: 'noted',
        branches: [
          { id: 'a', action: 'shop:/note?page=1', payload: { cents: 5 }, headers: { 'x-tenant': 't1' } },
          { id: 'b', action: 'shop:/note', body: 'plain', contentType: 'text/plain' },
          { id: 'c', action: 'shop:/note', body: '[7]', contentType: 'application/json; charset=utf-8' },
        ],
      },
      { waitMs: 10_000, trace: { traceparent: `00-${trace}-b7ad6b7169203331-01` } },
    )
    expect(calls[0]).toMatchObject({
      url: '/note?gid=noted&trans_type=saga&branch_id=a&op=action&page=1',
      headers: {
        'content-type': 'application/json',
        'counterstep-gid': 'noted',
        'counterstep-attempt': '1',
        'x-tenant': 't1',
        traceparent: expect.stringMatching(`^00-${trace}-[0-9a-f]{16}-01$`),
      },
      payload: { cents: 5 },
    })
    expect(calls[1]?.payload).toEqual(Buffer.from('plain'))
    expect(calls[2]?.payload).toEqual([7])
  })

  it('Its answer decides as over HTTP: a throw, a wrong answer and a 425 are called again, and a 409 turns the saga around', async () => {
    const attempts = new Map<string, number>()
    const failingOnce =
      (name: string, first: InProcessBranch): InProcessBranch =>
      (call) => {
        const attempt = (attempts.get(name) ?? 0) + 1
        attempts.set(name, attempt)
        return attempt === 1 ? first(call) : { answer: { statusCode: 200 } }
      }
    const throwing: InProcessBranch = () => {
      throw new Error('a fault')
    }
    await using counterstep = await own({
      '/throw': failingOnce('throw', throwing),
      '/reject': failingOnce('reject', () => Promise.reject(new Error('a fault'))),
      '/nothing': failingOnce('nothing', () => undefined as never),
      '/headers': failingOnce('headers', () => ({
        answer: { statusCode: 425, headers: { 'Retry-After': 0 as never } },
      })),
      '/null': failingOnce('null', () => ({ answer: { statusCode: 425, headers: null as never } })),
      '/204': failingOnce('204', answering(204)),
      '/not-yet': failingOnce('not-yet', (call) =>
        answerBranch(
          sqliteBarrier(new DatabaseSync(':memory:')),
          () => {
            throw new BranchOngoing({ retryAfterMs: 20 })
          },
          call,
        ),
      ),
      '/no': answering(409, '{"message":"sold out"}'),
    })
    const branches = ['throw', 'reject', 'nothing', 'headers', 'null', '204', 'not-yet'].map((path) => ({
      id: path,
      action: `shop:/${path}`,
    }))
    const done = await counterstep.submit({ ...quickly, branches }, { waitMs: 10_000 })
    expect(done).toMatchObject({ status: 'succeeded' })
    expect([...attempts.values()]).toEqual([2, 2, 2, 2, 2, 2, 2])
    const refused = await counterstep.submit({ branches: [{ action: 'shop:/no' }] }, { waitMs: 10_000 })
    expect(refused).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(refused)).toContain('sold out')
  })

  it('What one has answered is a value for the next one', async () => {
    const payloads: unknown[] = []
    await using counterstep = await own({
      '/reserve': answering(200, '{"id":"r-7"}'),
      '/pay': ({ payload }) => {
        payloads.push(payload)
        return { answer: { statusCode: 200 } }
      },
    })
    const order = saga()
      .pivot('reserve', endpoint<void, { id: string }>('shop:/reserve'))
      .retriable('pay', endpoint<{ for: string }, void>('shop:/pay'), ({ reserve }) => ({
        payload: { for: reserve.id },
      }))
    const view = await counterstep.submit(order, { waitMs: 10_000 })
    expect(view.status).toBe('succeeded')
    expect(payloads).toEqual([{ for: 'r-7' }])
  })

  it('One that hangs is told to stop at its deadline and called again, and what it answers late does not count', async () => {
    const signals: AbortSignal[] = []
    let answerLate: (() => void) | undefined
    const late = new Promise<void>((resolve) => {
      answerLate = resolve
    })
    const hang: InProcessBranch = async ({ signal }) => {
      signals.push(signal)
      if (signals.length > 1) return { answer: { statusCode: 200 } }
      await late
      return { answer: { statusCode: 409 } }
    }
    await using counterstep = await own({ '/hang': hang })
    const view = counterstep.submit(
      { ...quickly, branches: [{ action: 'shop:/hang', timeoutMs: 100 }] },
      { waitMs: 10_000 },
    )
    await expect.poll(() => signals.length).toBe(2)
    expect(signals[0]?.aborted).toBe(true)
    answerLate?.()
    expect(await view).toMatchObject({ status: 'succeeded' })
    expect(signals[1]?.aborted).toBe(false)
  })

  it('A close ends the calls that are under way, and the next process calls them again', async () => {
    let tellBegun: ((signal: AbortSignal) => void) | undefined
    const begun = new Promise<AbortSignal>((resolve) => {
      tellBegun = resolve
    })
    const first = await own({
      '/slow': ({ signal }) => {
        tellBegun?.(signal)
        return new Promise(() => undefined)
      },
    })
    await first.submit({ ...quickly, gid: 'slow', branches: [{ action: 'shop:/slow', timeoutMs: 60_000 }] })
    const signal = await begun
    await first.close()
    expect(signal.aborted).toBe(true)
    await using second = await own({ '/slow': answering(200) })
    await expect.poll(async () => (await second.get('slow'))?.status, { timeout: 30_000 }).toBe('succeeded')
  })

  for (const [what, answer] of [
    ['an object whose part throws', () => Object.defineProperty({}, 'answer', { get: throwFault })],
    ['a proxy that throws', () => new Proxy({}, { get: throwFault, has: throwFault, ownKeys: throwFault })],
  ] as const) {
    it(`One that returns ${what} is called again, as one that throws`, async () => {
      let attempts = 0
      await using counterstep = await own({
        '/odd': () => {
          attempts++
          return (attempts === 1 ? answer() : { answer: { statusCode: 200 } }) as Awaited<
            ReturnType<InProcessBranch>
          >
        },
      })
      const view = await counterstep.submit(
        { ...quickly, branches: [{ action: 'shop:/odd' }] },
        { waitMs: 10_000 },
      )
      expect(view.status).toBe('succeeded')
      expect(attempts).toBe(2)
    })
  }

  it('A log that throws ends neither the process nor the saga', async () => {
    const warned: Error[] = []
    const onWarning = (warning: Error) => warned.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const throwing = () => {
      throw new Error('the log is broken')
    }
    let attempts = 0
    await using counterstep = await own(
      {
        '/throw': () => {
          attempts++
          if (attempts === 1) throw new Error('a fault')
          return { answer: { statusCode: 200 }, error: new Error('a fault beside a success') }
        },
      },
      { logger: { ...silentLogger, warn: throwing } },
    )
    const done = await counterstep.submit(
      { ...quickly, branches: [{ action: 'shop:/throw' }] },
      { waitMs: 10_000 },
    )
    expect([done.status, attempts]).toEqual(['succeeded', 2])
    await expect.poll(() => warned.length).toBeGreaterThanOrEqual(2)
    expect(warned[0]?.message).toContain('the log has thrown Error: the log is broken, and lost: ')
  })

  it('One service has a bound of calls at once, and the others wait for their turn', async () => {
    const ends: (() => void)[] = []
    const slow: InProcessBranch = async () => {
      await new Promise<void>((resolve) => {
        ends.push(resolve)
      })
      return { answer: { statusCode: 200 } }
    }
    await using counterstep = await own({ '/slow': slow }, { calls: { connectionsPerOriginMax: 1 } })
    const request = { branches: [{ action: 'shop:/slow' }] }
    const one = counterstep.submit(request, { waitMs: 10_000 })
    await expect.poll(() => ends.length).toBe(1)
    const other = counterstep.submit(request, { waitMs: 10_000 })
    const third = await counterstep.submit({
      ...quickly,
      gid: 'third',
      branches: [{ action: 'shop:/slow', timeoutMs: 50 }],
    })
    // It had no place before its deadline, so its function was not called.
    await expect
      .poll(async () => JSON.stringify(await counterstep.get(third.gid)), { timeout: 5_000 })
      .toContain('"busy"')
    expect(ends).toHaveLength(1)
    ends[0]?.()
    expect(await one).toMatchObject({ status: 'succeeded' })
    await expect.poll(() => ends.length).toBe(2)
    ends[1]?.()
    expect(await other).toMatchObject({ status: 'succeeded' })
  })

  it('A function that goes on after its deadline keeps its place, so that calls made again pile up no others', async () => {
    const ends: (() => void)[] = []
    let isDeaf = true
    const deaf: InProcessBranch = async () => {
      if (isDeaf)
        await new Promise<void>((resolve) => {
          ends.push(resolve)
        })
      return { answer: { statusCode: 200 } }
    }
    await using counterstep = await own({ '/deaf': deaf }, { calls: { connectionsPerOriginMax: 1 } })
    const branches = [{ action: 'shop:/deaf', timeoutMs: 50 }]
    const { gid } = await counterstep.submit({ ...quickly, branches })
    const look = async () => await counterstep.get(gid)
    await expect
      .poll(async () => (await look())?.branches[0]?.ops[0]?.attempts ?? 0, { timeout: 5_000 })
      .toBeGreaterThan(3)
    expect(ends).toHaveLength(1)
    isDeaf = false
    ends[0]?.()
    await expect.poll(async () => (await look())?.status, { timeout: 5_000 }).toBe('succeeded')
  })

  it.each([
    ['that function', { '/other': answering(200) }],
    ['any function of its service', undefined],
  ] as const)('A process without %s asks again, and spends no retry limit', async (_what, own) => {
    let undone = 0
    const undo: InProcessBranch = () => {
      undone++
      return { answer: { statusCode: 200 } }
    }
    const open = async (stock: Readonly<Record<string, InProcessBranch>> | undefined) => {
      const branches = { shop: { '/undo': undo }, ...(stock === undefined ? {} : { stock }) }
      const counterstep = await createCounterstep({
        store: (onEvent) => openSqliteStore({ path: join(folder, 'own.db'), onEvent }),
        branches,
        logger: silentLogger,
      })
      await counterstep.start()
      return counterstep
    }
    const readOp = async (counterstep: OwnCounterstep) =>
      (await counterstep.get('moved'))?.branches[0]?.ops.find(({ op }) => op === 'action')
    {
      await using newer = await open({ '/new': answering(425) })
      const retry = { ...quickly.retry, limit: 2 }
      const branch = { action: 'stock:/new', compensation: 'shop:/undo', retry }
      await newer.submit({ gid: 'moved', branches: [branch] })
      await expect.poll(async () => (await readOp(newer))?.attempts, { timeout: 10_000 }).toBeGreaterThan(0)
    }
    {
      await using older = await open(own)
      const countDenied = async () =>
        (await readOp(older))?.runs?.find(({ outcome }) => outcome === 'denied-target')?.count ?? 0
      await expect.poll(countDenied, { timeout: 10_000 }).toBeGreaterThan(2)
      expect((await older.get('moved'))?.status).toBe('submitted')
    }
    await using newer = await open({ '/new': answering(200) })
    // After five waits there is a second at least between two calls.
    const readStatus = async () => (await newer.get('moved'))?.status
    await expect.poll(readStatus, { timeout: 10_000 }).toBe('succeeded')
    expect(undone).toBe(0)
  })

  it('A workflow has its handler, its steps and its calls in this process', async () => {
    const database = new DatabaseSync(join(folder, 'shop.db'))
    database.exec('CREATE TABLE sold (item TEXT NOT NULL)')
    migrateBarrier(database)
    const barrier = sqliteBarrier(database)
    const sell = step('sell', {
      do: (tx: DatabaseSync, { item }: { item: string }) => {
        tx.prepare('INSERT INTO sold (item) VALUES (?)').run(item)
        return { item }
      },
      undo: (tx: DatabaseSync) => void tx.exec('DELETE FROM sold'),
    })
    const pay = endpoint<{ cents: number }, { paymentId: string }>('shop:/pay')
    const order = workflow('order', { version: 1, barrier, steps: [sell] }, async (ctx, item: string) => {
      await ctx.step(sell, { item })
      const { paymentId } = await ctx.call('pay', pay, { payload: { cents: 5 } })
      return { paymentId }
    })
    await using counterstep = await own(
      {
        '/workflows': (call) => answerWorkflow([order], call),
        '/pay': answering(200, '{"paymentId":"p-1"}'),
      },
      { settings: { acceptNewKinds: true } },
    )
    const started = await counterstep.submit(
      {
        kind: 'workflow',
        workflow: 'order',
        handler: 'shop:/workflows',
        version: 1,
        input: 'book',
        grants: 8,
      },
      { waitMs: 10_000 },
    )
    expect(started).toMatchObject({ status: 'succeeded', result: { paymentId: 'p-1' } })
    expect(database.prepare('SELECT item FROM sold').all()).toEqual([{ item: 'book' }])
    database.close()
  })

  it('A workflow in this process fails, and the process goes on, when the second of two functions that it awaits in turn is refused', async () => {
    const call = endpoint<void, { id: string }>('shop:/call')
    const refuse = endpoint<void, { id: string }>('shop:/refuse')
    const order = workflow('order', { version: 1 }, async (ctx) => {
      const first = (async () => (await ctx.call('first', call)).id)()
      const second = (async () => (await ctx.call('second', refuse)).id)()
      return [await first, await second]
    })
    const refusal = new EventEmitter()
    const isRefused = once(refusal, 'told')
    await using counterstep = await own(
      {
        '/workflows': async (asked) => {
          const answered = await answerWorkflow([order], asked)
          if (asked.url.includes('op=plan') && JSON.stringify(asked.payload).includes('"failed"'))
            refusal.emit('told')
          return answered
        },
        '/call': async () => {
          await isRefused
          return { answer: { statusCode: 200, body: '{"id":"1"}', headers: {} } }
        },
        '/refuse': answering(409, '{"code":"NO","message":"no"}'),
      },
      { settings: { acceptNewKinds: true } },
    )
    const started = await counterstep.submit(
      { kind: 'workflow', workflow: 'order', handler: 'shop:/workflows', version: 1 },
      { waitMs: 10_000 },
    )
    expect(started).toMatchObject({ status: 'failed', abort: { code: 'NO' } })
  })

  it('A message asks back a function of this process', async () => {
    const database = new DatabaseSync(join(folder, 'shop.db'))
    migrateBarrier(database)
    const asked: string[] = []
    await using counterstep = await own({
      '/asked': (call) => {
        asked.push(call.url)
        return answerQueryBack(sqliteBarrier(database), call)
      },
      '/mail': answering(200),
    })
    await counterstep.submit({
      gid: 'never-committed',
      kind: 'message',
      branches: [{ action: 'shop:/mail' }],
      check: { url: 'shop:/asked', afterMs: 1_000 },
    })
    const read = async () => (await counterstep.get('never-committed'))?.status
    await expect.poll(read, { timeout: 10_000 }).toBe('failed')
    expect(asked).toEqual(['/asked?gid=never-committed&trans_type=msg&branch_id=00&op=msg'])
    database.close()
  })

  it('A path without a function is refused at submit, and so is every other target', async () => {
    await using counterstep = await own({ '/move': answering(200) })
    for (const action of [
      'shop:/none',
      'shop:/move/',
      'shop:/%6dove',
      'other:/move',
      'http://127.0.0.1:1/a',
    ]) {
      const submitted = counterstep.submit({ branches: [{ action }] })
      await expect(submitted, action).rejects.toMatchObject({ code: 'SAGA_TARGET_NOT_ALLOWED' })
    }
    for (const action of ['http://shop.in-process.invalid/move', 'shop:/a/../move']) {
      await expect(counterstep.submit({ branches: [{ action }] }), action).rejects.toThrow()
    }
  })

  it.each([
    [{ shop: {} }, 'branches.shop must have a function for each path'],
    [{ shop: { reserve: answering(200) } }, 'branches.shop has "reserve", which is no plain path'],
    [{ shop: { '/a/../b': answering(200) } }, 'branches.shop has "/a/../b", which is no plain path'],
    [{ shop: { '//a': answering(200) } }, 'branches.shop has "//a", which is no plain path'],
    [{ shop: { '/a?b': answering(200) } }, 'branches.shop has "/a?b", which is no plain path'],
    [{ shop: { '/a': 'no' as never } }, 'branches.shop has no function for /a'],
    [{ Shop: { '/a': answering(200) } }, 'branches has the service "Shop", which must have a name of a-z'],
    [
      { http: { '/a': answering(200) } },
      'branches has the service "http", which has a name that is a scheme of URLs',
    ],
  ])('Wrong branches are refused before anything is opened: %j', async (branches, message) => {
    await expect(own({}, { branches: branches as never })).rejects.toThrow(message)
  })

  it('An app with branches of its own needs no other target, and one without any is refused', async () => {
    await (await own({ '/a': answering(200) }, { targets: { services: {} } })).close()
    await expect(own({}, { branches: {} })).rejects.toThrow('counterstep needs targets')
  })

  it('A service has one place: in this process, or at a URL', async () => {
    const targets = { services: { shop: 'https://shop.example' } }
    await expect(own({ '/a': answering(200) }, { targets })).rejects.toThrow(
      'branches.shop is a service at a URL, too',
    )
  })
})
