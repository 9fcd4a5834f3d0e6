import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../src/barrier/sqlite.ts'
import { branchHandler } from '../src/fastify.ts'
import {
  type Branch,
  BranchFailure,
  createClient,
  isBranchFailure,
  isBranchOngoing,
  isUnavailable,
  parseBranch,
  type TccBranch,
  type TccScope,
} from '../src/index.ts'
import { callOver, SUCCESS, serve } from './served-server.ts'

interface Tried {
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Serves participants that are only tried: `/200`, `/409`, … answer that status. */
async function serveTries(answer: (tried: Tried) => unknown = () => undefined) {
  const tried: Tried[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = new URL(request.url ?? '', 'http://127.0.0.1')
    const seen = { url, headers: request.headers, body }
    tried.push(seen)
    const text = await answer(seen)
    response.writeHead(Number(url.pathname.slice(1)), { 'retry-after': '3' })
    response.end(typeof text === 'string' ? text : JSON.stringify(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    tried,
    ids: () => tried.map(({ url }) => url.searchParams.get('branch_id')),
    branch: (status: number, more: Partial<TccBranch<never>> = {}): TccBranch<never> => ({
      try: `http://127.0.0.1:${port}/${status}`,
      confirm: 'http://service/confirm',
      cancel: 'http://service/cancel',
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Keeps what awaits `opened` until it is opened, at the latest when the test ends. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open, [Symbol.dispose]: open }
}

describe('runTcc', () => {
  it('runTcc prepares, tries each branch that it has registered, and confirms when the callback returns', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries(() => ({ room: 12 }))
    const done = await server.client.runTcc(
      { deadlineMs: 20_000, headers: { 'x-tenant': 'a' } },
      async (tcc) => {
        const { room } = await tcc.try<{ room: number }>(participants.branch(200, { payload: { nights: 2 } }))
        await tcc.try(participants.branch(200, { body: 'text', headers: { 'x-own': 'b' } }))
        return room
      },
      { waitMs: 10_000 },
    )
    expect([done.answer, done.transaction.status]).toEqual([12, 'succeeded'])
    // The newest branch comes first.
    expect(server.calls).toEqual(['02 confirm', '01 confirm'])
    const [first, second] = participants.tried
    expect(Object.fromEntries(first?.url.searchParams ?? [])).toEqual({
      gid: done.transaction.gid,
      trans_type: 'tcc',
      branch_id: '01',
      op: 'try',
    })
    expect([first?.body, second?.body]).toEqual(['{"nights":2}', 'text'])
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-tenant': 'a',
      'counterstep-attempt': '1',
      'counterstep-epoch': '0',
      'counterstep-accepted-at': String(done.transaction.createdAt),
    })
    expect(second?.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'x-own': 'b' })
    const called = parseBranch({ url: first?.url.href ?? '', headers: first?.headers ?? {} })
    expect(called).toMatchObject({ kind: 'tcc', op: 'try', branchId: '01', attempt: 1 })
  })

  it('runTcc cancels the registered branches after a try that fails, and throws a BranchFailure', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries(() => ({ code: 'SOLD_OUT', message: 'no room', details: 7 }))
    const gid = 'trip-1'
    const error = await server.client
      .runTcc({ gid }, async (tcc) => {
        await tcc.try(participants.branch(200))
        await tcc.try(participants.branch(409))
        await tcc.try(participants.branch(200))
      })
      .catch((each: unknown) => each)
    expect(isBranchFailure(error)).toBe(true)
    expect(error).toMatchObject({ code: 'SOLD_OUT', message: 'no room', details: 7 })
    const view = await server.client.wait(gid)
    expect(view).toMatchObject({
      status: 'failed',
      abort: { cause: 'requested', reason: 'SOLD_OUT: no room' },
    })
    expect([server.calls, participants.ids()]).toEqual([
      ['02 cancel', '01 cancel'],
      ['01', '02'],
    ])
  })

  it('runTcc with a wait throws when all branches are cancelled', async () => {
    const cancelling = gate()
    const held = gate()
    await using server = await serve(async () => {
      cancelling.open()
      await held.opened
      return SUCCESS
    })
    await using participants = await serveTries()
    using cancel = held
    const gid = 'trip-3'
    let isSettled = false
    const running = server.client
      .runTcc({ gid }, (tcc) => tcc.try(participants.branch(409)), { waitMs: 10_000 })
      .catch((error: unknown) => error)
      .finally(() => {
        isSettled = true
      })
    await cancelling.opened
    expect(await server.client.get(gid)).toMatchObject({ status: 'aborting' })
    expect(isSettled).toBe(false)
    cancel.open()
    expect(isBranchFailure(await running)).toBe(true)
    expect(await server.client.get(gid)).toMatchObject({ status: 'failed' })
  })

  it.each([
    ['when the wait is over', () => ({ waitMs: 1_000 })],
    ['when its signal ends the wait', () => ({ waitMs: 60_000, signal: AbortSignal.timeout(1_000) })],
  ])(
    'runTcc with a wait throws %s while its branches are cancelled, and reports nothing as unsettled',
    async (_when, wait) => {
      const held = gate()
      await using server = await serve(async () => {
        await held.opened
        return SUCCESS
      })
      await using participants = await serveTries()
      using _cancel = held
      const gid = 'trip-4'
      const unsettled: unknown[] = []
      const startedAt = performance.now()
      const running = server.client.runTcc({ gid }, (tcc) => tcc.try(participants.branch(409)), {
        ...wait(),
        onUnsettled: (error) => unsettled.push(error),
      })
      await expect(running).rejects.toSatisfy(isBranchFailure)
      // The last poll that has time is the last.
      expect(performance.now() - startedAt).toBeGreaterThan(400)
      expect(await server.client.get(gid)).toMatchObject({ status: 'aborting' })
      expect(unsettled).toEqual([])
    },
  )

  it('runTcc tries nothing for a waitMs out of its range', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const running = server.client.runTcc({ gid: 'trip-5' }, (tcc) => tcc.try(participants.branch(200)), {
      waitMs: 90_000,
    })
    await expect(running).rejects.toThrow(RangeError)
    expect(participants.tried).toEqual([])
    await expect(server.client.get('trip-5')).rejects.toMatchObject({ code: 'SAGA_UNKNOWN_GID' })
  })

  for (const [status, guard] of [
    [425, isBranchOngoing],
    [500, isUnavailable],
    [201, isUnavailable],
    [302, isUnavailable],
  ] as const) {
    it(`runTcc cancels after a try that is answered ${status}, and tries it once`, async () => {
      await using server = await serve(() => SUCCESS)
      await using participants = await serveTries()
      const running = server.client.runTcc({ gid: 'trip-2' }, (tcc) => tcc.try(participants.branch(status)))
      const error = await running.catch((each: unknown) => each)
      expect(guard(error)).toBe(true)
      expect((await server.client.wait('trip-2')).status).toBe('failed')
      expect([server.calls, participants.ids()]).toEqual([['01 cancel'], ['01']])
    })
  }

  it('runTcc throws on the error of the callback, and cancels', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const error = new TypeError('broken')
    const running = server.client.runTcc({ gid: 'trip-3' }, async (tcc) => {
      await tcc.try(participants.branch(200))
      throw error
    })
    await expect(running).rejects.toBe(error)
    expect((await server.client.wait('trip-3')).status).toBe('failed')
    expect(server.calls).toEqual(['01 cancel'])
  })

  it('runTcc confirms nothing when a try has failed whose error the callback caught or did not wait for', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const caught = server.client.runTcc({ gid: 'caught' }, (tcc) =>
      tcc.try(participants.branch(409)).catch(() => 'another hotel'),
    )
    await expect(caught).rejects.toSatisfy(isBranchFailure)
    const floating = server.client.runTcc({ gid: 'floating' }, (tcc) => {
      void tcc.try(participants.branch(409)).catch((error: unknown) => error)
      return 'done'
    })
    await expect(floating).rejects.toSatisfy(isBranchFailure)
    for (const gid of ['caught', 'floating']) expect((await server.client.wait(gid)).status).toBe('failed')
    expect(server.calls).toEqual(['01 cancel', '01 cancel'])
  })

  it('runTcc tries no branch that it could not register', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const running = server.client.runTcc({ gid: 'trip-4' }, (tcc) =>
      tcc.try(participants.branch(200, { confirm: 'ftp://no' })),
    )
    await expect(running).rejects.toMatchObject({ code: 'SAGA_URL_INVALID', status: 422 })
    expect((await server.client.wait('trip-4')).status).toBe('failed')
    expect([server.calls, participants.tried]).toEqual([[], []])
  })

  it('runTcc cancels everything when its deadline has passed', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const running = server.client.runTcc({ gid: 'late', deadlineMs: 300 }, async (tcc) => {
      await tcc.try(participants.branch(200))
      await server.client.wait('late')
    })
    await expect(running).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    expect(await server.client.get('late')).toMatchObject({ status: 'failed', abort: { cause: 'deadline' } })
    expect(server.calls).toEqual(['01 cancel'])
  })

  it('runTcc runs no callback for a gid that has been used before', async () => {
    await using server = await serve(() => SUCCESS)
    await server.client.runTcc({ gid: 'used' }, () => 1)
    let runs = 0
    const again = server.client.runTcc({ gid: 'used' }, () => ++runs)
    await expect(again).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    expect(runs).toBe(0)
  })

  it('runTcc repeats prepare, register and submit after lost answers, and tries once', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    let attempts = 0
    const losing: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      if (!String(request[0]).startsWith(server.url)) return response
      attempts += 1
      if (attempts % 2 === 0) return response
      await response.arrayBuffer()
      throw new TypeError('terminated')
    }
    const client = createClient({ url: server.url, fetch: losing, headers: { authorization: 'secret' } })
    await client.runTcc({ gid: 'lossy' }, (tcc) => tcc.try(participants.branch(200)))
    expect((await server.client.wait('lossy')).status).toBe('succeeded')
    expect([attempts, participants.ids(), server.calls]).toEqual([6, ['01'], ['01 confirm']])
    // Headers for the server are not sent to participants.
    expect(participants.tried[0]?.headers.authorization).toBeUndefined()
  })

  it('A try resolves with the text of an answer that is no JSON, undefined for an empty one, and the result of parse', async () => {
    await using server = await serve(() => SUCCESS)
    const texts = ['SUCCESS', '', '{"room":7}']
    await using participants = await serveTries(() => texts.shift())
    const parse = (answer: unknown) => Number((answer as { room: unknown }).room)
    const { answer } = await server.client.runTcc({}, async (tcc) => [
      await tcc.try(participants.branch(200)),
      await tcc.try(participants.branch(200)),
      await tcc.try<number>({ ...participants.branch(200), parse }),
    ])
    expect(answer).toEqual(['SUCCESS', undefined, 7])
  })

  it('The branches of a TCC are numbered up to 99, and given ids are left out', async () => {
    await using server = await serve(() => SUCCESS)
    const tcc = server.client.tcc()
    await tcc.prepare()
    const branch = { confirm: 'http://service/confirm', cancel: 'http://service/cancel' }
    const ids: string[] = []
    ids.push((await tcc.register({ ...branch, id: '02' })).branchId)
    for (let number = 1; number <= 98; number += 1) ids.push((await tcc.register(branch)).branchId)
    expect([ids[1], ids[2], ids.at(-1), new Set(ids).size]).toEqual(['01', '03', '99', 99])
    await expect(tcc.register(branch)).rejects.toMatchObject({ code: 'SAGA_TOO_MANY_BRANCHES' })
    await tcc.abort()
  })
})

describe('the steps of a TCC', () => {
  it('A TCC is prepared, tried or registered, and submitted or aborted; repeating a step changes nothing', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const tcc = server.client.tcc({ gid: 'steps' })
    await tcc.prepare()
    expect((await tcc.prepare()).status).toBe('prepared')
    await tcc.try(participants.branch(200))
    expect((await tcc.submit({ waitMs: 10_000 })).status).toBe('succeeded')
    expect((await tcc.submit()).status).toBe('succeeded')
    await expect(tcc.register(participants.branch(200))).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    await expect(tcc.abort()).rejects.toMatchObject({ code: 'SAGA_ALREADY_FINAL' })
  })

  it('The submit of a TCC is refused after a try that failed', async () => {
    await using server = await serve(() => SUCCESS)
    await using participants = await serveTries()
    const tcc = server.client.tcc()
    await tcc.prepare()
    await expect(tcc.try(participants.branch(409))).rejects.toSatisfy(isBranchFailure)
    await expect(tcc.submit()).rejects.toSatisfy(isBranchFailure)
    expect((await tcc.abort({ waitMs: 10_000 })).status).toBe('failed')
    expect(server.calls).toEqual(['01 cancel'])
  })
})

/** Serves a participant behind a barrier, which moves from `free` to `held` to `taken`; its try may have a part of its own. */
async function reservations(nested?: (branch: Branch) => Promise<unknown>) {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec('CREATE TABLE room (free INT, held INT, taken INT); INSERT INTO room VALUES (3, 0, 0)')
  const service = fastify()
  const barrier = sqliteBarrier(database)
  const MOVES = {
    try: 'UPDATE room SET free = free - 1, held = held + 1 WHERE free > 0',
    confirm: 'UPDATE room SET held = held - 1, taken = taken + 1',
    cancel: 'UPDATE room SET held = held - 1, free = free + 1',
  }
  const reserve = branchHandler(barrier, (tx, { op }: Branch) => {
    if (op !== 'try' && op !== 'confirm' && op !== 'cancel') throw new TypeError('of a TCC')
    if (tx.prepare(MOVES[op]).run().changes === 0) throw new BranchFailure('no room', { code: 'FULL' })
    return { op }
  })
  service.post('/reserve', async (request, reply) => {
    const branch = parseBranch({ url: request.originalUrl, headers: request.headers })
    if (branch.op === 'try') await nested?.(branch)
    return reserve(request, reply)
  })
  const url = `${await service.listen({ port: 0, host: '127.0.0.1' })}/reserve`
  return {
    branch: { try: url, confirm: url, cancel: url },
    room: () => database.prepare('SELECT free, held, taken FROM room').get(),
    [Symbol.asyncDispose]: () => service.close(),
  }
}

describe('a nested TCC', () => {
  it('A nested TCC registers children behind its own id, and all are confirmed', async () => {
    await using server = await serve(callOver)
    await using hotel = await reservations()
    await using flight = await reservations((branch) => server.client.tccOf(branch).try(hotel.branch))
    const done = await server.client.runTcc(
      {},
      async (tcc) => {
        await tcc.try(hotel.branch)
        return tcc.try(flight.branch)
      },
      { waitMs: 10_000 },
    )
    expect([done.answer, done.transaction.status]).toEqual([{ op: 'try' }, 'succeeded'])
    expect(done.transaction.branches.map(({ id }) => id)).toEqual(['01', '02', '0201'])
    expect(hotel.room()).toEqual({ free: 1, held: 0, taken: 2 })
    expect(flight.room()).toEqual({ free: 2, held: 0, taken: 1 })
  })

  it('A nested TCC is cancelled with the whole, and so is a branch whose try never came', async () => {
    await using server = await serve(callOver)
    await using hotel = await reservations()
    await using flight = await reservations((branch) => server.client.tccOf(branch).try(hotel.branch))
    const running = server.client.runTcc({ gid: 'nested' }, async (tcc) => {
      await tcc.try(flight.branch)
      await tcc.register(hotel.branch)
      throw new BranchFailure('changed my mind')
    })
    await expect(running).rejects.toSatisfy(isBranchFailure)
    const view = await server.client.wait('nested')
    expect([view.status, view.branches.map(({ id }) => id)]).toEqual(['failed', ['01', '0101', '02']])
    for (const each of [hotel, flight]) expect(each.room()).toEqual({ free: 3, held: 0, taken: 0 })
  })

  type Fallback = (nested: TccScope, first: TccBranch<never>, second: TccBranch<never>) => Promise<unknown>
  const FALLBACKS: readonly (readonly [string, Fallback])[] = [
    ['goes on', (nested, first) => nested.try(first).catch(() => 'none')],
    ['tries another', (nested, first, second) => nested.try(first).catch(() => nested.try(second))],
    [
      'catches that of another, too',
      (nested, first, second) => nested.try(first).catch(() => nested.try(second).catch(() => 'none')),
    ],
  ]
  for (const [what, fallback] of FALLBACKS) {
    it.each([409, 500, 425])(
      `A participant that catches the error of a nested try, and ${what}, has nothing confirmed: %d`,
      async (status) => {
        await using server = await serve(callOver)
        await using failing = await serveTries(() => ({ code: 'FULL', message: 'no room' }))
        await using hotel = await reservations()
        const first = failing.branch(status, { confirm: hotel.branch.confirm, cancel: hotel.branch.cancel })
        await using agency = await reservations((branch) =>
          fallback(server.client.tccOf(branch), first, hotel.branch as TccBranch<never>),
        )
        const running = server.client.runTcc({ gid: 'caught' }, (tcc) => tcc.try(agency.branch))
        await expect(running).rejects.toThrow()
        const { abort, branches, ...view } = await server.client.wait('caught')
        expect([view.status, branches.map(({ id }) => id)]).toEqual(['failed', ['01', '0101']])
        if (status === 409) expect(abort).toMatchObject({ cause: 'requested', reason: 'FULL: no room' })
        for (const each of [hotel, agency]) expect(each.room()).toEqual({ free: 3, held: 0, taken: 0 })
      },
    )
  }

  it('A nested try that is not answered in time has nothing confirmed', async () => {
    const held = gate()
    await using server = await serve(callOver)
    await using hanging = await serveTries(() => held.opened)
    using _open = held
    await using hotel = await reservations()
    const { confirm, cancel } = hotel.branch
    await using agency = await reservations((branch) =>
      server.client
        .tccOf(branch)
        .try(hanging.branch(200, { confirm, cancel, timeoutMs: 100 }))
        .catch(() => 'none'),
    )
    const running = server.client.runTcc({ gid: 'hung' }, (tcc) => tcc.try(agency.branch))
    await expect(running).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    expect((await server.client.wait('hung')).status).toBe('failed')
    for (const each of [hotel, agency]) expect(each.room()).toEqual({ free: 3, held: 0, taken: 0 })
  })

  it('A nested try that fails is thrown as it is though the TCC could not be aborted, and so is each further one', async () => {
    await using server = await serve(callOver)
    await using failing = await serveTries(() => ({ code: 'FULL' }))
    await server.client.tcc({ gid: 'deaf' }).prepare()
    const deaf: typeof fetch = async (input, init) => {
      if (String(input).endsWith('/abort')) throw new TypeError('fetch failed')
      return fetch(input, init)
    }
    const client = createClient({ url: server.url, fetch: deaf, retryForMs: 50 })
    const nested = client.tccOf({ gid: 'deaf', branchId: '01', kind: 'tcc' })
    for (const status of [409, 200])
      await expect(nested.try(failing.branch(status))).rejects.toMatchObject({ code: 'FULL' })
    expect(failing.ids()).toEqual(['0101'])
    await server.client.abort('deaf', { waitMs: 10_000 })
  })

  it.each<[string, readonly (string | undefined)[], readonly string[]]>([
    ['is refused, and confirms nothing', [undefined, undefined], []],
    ['may have ids of its own', ['single', 'double'], ['01', 'double', 'single']],
    ['may be the only one that numbers', ['single', undefined], ['01', '0101', 'single']],
  ])('A second scope of one branch %s', async (_title, ids, confirmed) => {
    await using server = await serve(callOver)
    await using hotel = await reservations()
    const errors: unknown[] = []
    await using agency = await reservations(async (branch) => {
      const take = (id: string | undefined) =>
        server.client.tccOf(branch).try({ ...hotel.branch, ...(id === undefined ? {} : { id }) })
      for (const id of ids) await take(id).catch((error: unknown) => errors.push(error))
    })
    const running = server.client.runTcc({ gid: 'two' }, (tcc) => tcc.try(agency.branch))
    await running.catch(() => undefined)
    await server.client.wait('two')
    const confirms = server.calls.filter((call) => call.endsWith(' confirm'))
    expect(confirms.map((call) => call.split(' ')[0]).sort()).toEqual(confirmed)
    expect(errors.map((error) => error instanceof TypeError)).toEqual(confirmed.length > 0 ? [] : [true])
    const taken = Math.max(confirmed.length - 1, 0)
    expect(hotel.room()).toEqual({ free: 3 - taken, held: 0, taken })
  })

  it('Each call of a participant counts its nested branches from 01, so that a repeated one tries nothing twice', async () => {
    await using server = await serve(callOver)
    await using hotel = await reservations()
    await using agency = await reservations((branch) => server.client.tccOf(branch).try(hotel.branch))
    const { transaction } = await server.client.runTcc(
      {},
      async (tcc) => {
        const { gid, branchId } = await tcc.register(agency.branch)
        const ids = { gid, trans_type: 'tcc', branch_id: branchId, op: 'try' }
        const url = `${agency.branch.try}?${new URLSearchParams(ids)}`
        for (let attempt = 0; attempt < 2; attempt++)
          expect((await fetch(url, { method: 'POST' })).status).toBe(200)
      },
      { waitMs: 10_000 },
    )
    expect(transaction.branches.map(({ id }) => id)).toEqual(['01', '0101'])
    expect(hotel.room()).toEqual({ free: 2, held: 0, taken: 1 })
  })

  it('Only a branch of a TCC can have a nested one', async () => {
    await using server = await serve(() => SUCCESS)
    expect(() => server.client.tccOf({ gid: 'g', branchId: '01', kind: 'saga' })).toThrow(TypeError)
  })
})
