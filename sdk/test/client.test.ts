import {
  type Client,
  createClient,
  isCounterstepError,
  isNotFinal,
  isRefused,
  isUnavailable,
  type SubmitView,
  saga,
  type TransactionSummary,
  type TransactionView,
} from '@counterstep/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { catchError } from './catch-error.ts'
import { problem, type Reply, scriptedServer } from './scripted-server.ts'

const view = {
  gid: 'g',
  kind: 'saga',
  status: 'submitted',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const final = { ...view, status: 'succeeded' }
const accepted = { status: 202, body: { ...view, ack: 'durable' } }
const acceptedByGid: Reply = ({ body }) => ({
  status: 202,
  body: { ...accepted.body, gid: JSON.parse(body).gid },
})
const transfer = saga({ gid: 'g' }).branch('debit', { action: 'http://bank/debit' })

describe('submit', () => {
  it('Submit sends the saga with its gid and returns what was accepted', async () => {
    await using server = await scriptedServer([accepted])
    const client = createClient({ url: `${server.url}/`, headers: { authorization: 'x' } })
    expect(await client.submit(transfer)).toEqual({ ...view, ack: 'durable' })
    const [request] = server.seen
    expect(request).toMatchObject({ method: 'POST', url: '/v1/transactions' })
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'x' })
    expect(request?.headers.prefer).toBeUndefined()
    expect(JSON.parse(request?.body ?? '')).toEqual(transfer.request)
  })

  it('Submit asks to wait in whole seconds, for a minute at most', async () => {
    await using server = await scriptedServer([accepted])
    const client = createClient({ url: server.url })
    await client.submit(transfer, { waitMs: 1_200 })
    expect(server.seen[0]?.headers.prefer).toBe('wait=2')
    await expect(client.submit(transfer, { waitMs: 60_001 })).rejects.toThrow(RangeError)
  })

  it('A plain request gets a gid, which all attempts keep', async () => {
    await using server = await scriptedServer([
      'cut',
      problem(503, 'SAGA_OVER_CAPACITY'),
      'cut',
      acceptedByGid,
    ])
    const client = createClient({ url: server.url })
    await client.submit({ branches: [{ action: 'http://bank/debit' }] })
    const gids = server.seen.map(({ body }) => JSON.parse(body).gid)
    expect(gids).toHaveLength(4)
    expect(new Set(gids).size).toBe(1)
    expect(gids[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('Submit waits for as long as Retry-After says', async () => {
    const busy = { ...problem(503, 'SAGA_OVER_CAPACITY'), headers: { 'retry-after': '1' } }
    await using server = await scriptedServer([busy, accepted])
    const startedAt = performance.now()
    await createClient({ url: server.url }).submit(transfer)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  })

  for (const reply of [
    'cut',
    problem(503, 'SAGA_OUTCOME_UNKNOWN'),
    { status: 502, body: '<html>' },
  ] as const) {
    it(`Submit gives up on ${JSON.stringify(reply).slice(0, 40)} after retryForMs, and its error names the gid`, async () => {
      await using server = await scriptedServer([reply])
      const error = await catchError(createClient({ url: server.url, retryForMs: 2_000 }).submit(transfer))
      expect(isUnavailable(error) && error.gid).toBe('g')
      expect(server.seen.length).toBeGreaterThan(1)
    })
  }

  it('Submit does not try again after a refusal, and its error has every fault', async () => {
    const faults = [{ code: 'SAGA_URL_INVALID', path: '/branches/0/action', message: 'not http' }]
    await using server = await scriptedServer([problem(422, 'SAGA_URL_INVALID', { faults })])
    const error = await catchError(createClient({ url: server.url }).submit(transfer))
    expect(isRefused(error)).toBe(true)
    expect(error).toMatchObject({
      code: 'SAGA_URL_INVALID',
      status: 422,
      faults,
      gid: 'g',
      meaning: 'failure',
    })
    expect(server.seen).toHaveLength(1)
  })

  it('Submit does not try again after a fault of the server, nor at a wrong address', async () => {
    for (const reply of [
      problem(500, 'SAGA_INTERNAL'),
      { status: 404, body: 'nothing here' },
      { status: 301 },
    ]) {
      await using server = await scriptedServer([reply])
      const error = await catchError(createClient({ url: server.url }).submit(transfer))
      expect(isCounterstepError(error)).toBe(true)
      expect(server.seen).toHaveLength(1)
    }
  })

  it('Submit refuses a number that JSON would turn into null', async () => {
    const broken = saga().branch('debit', { action: 'http://bank/debit', payload: { cents: Number.NaN } })
    const error = await catchError(createClient({ url: 'http://127.0.0.1:1' }).submit(broken))
    expect(error).toMatchObject({
      code: 'SAGA_NUMBER_NOT_EXACT',
      message: 'cents is NaN, which JSON cannot hold',
    })
  })

  it('Submit ends with the reason of its signal, in flight and between attempts', async () => {
    const hanging: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    const reason = new Error('enough')
    for (const fetch of [hanging, async () => Promise.reject(new TypeError('fetch failed'))] as const) {
      const controller = new AbortController()
      const client = createClient({ url: 'http://127.0.0.1:1', fetch })
      const done = catchError(client.submit(transfer, { signal: controller.signal }))
      setTimeout(() => controller.abort(reason), 60)
      expect(await done).toBe(reason)
    }
    const client = createClient({ url: 'http://127.0.0.1:1' })
    expect(await catchError(client.submit(transfer, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  it('Submit treats an attempt that hangs as unavailable', async () => {
    const hanging: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    const client = createClient({ url: 'http://127.0.0.1:1', fetch: hanging, timeoutMs: 30, retryForMs: 0 })
    const error = await catchError(client.submit(transfer))
    expect(error).toMatchObject({ code: 'SAGA_UNREACHABLE', cause: { name: 'TimeoutError' } })
  })

  it('The error of a call names the origin that gave no answer', async () => {
    const client = createClient({ url: 'http://127.0.0.1:9/orders', retryForMs: 0 })
    const error = await catchError(client.get('g'))
    expect(error).toMatchObject({ code: 'SAGA_UNREACHABLE', message: 'no answer from http://127.0.0.1:9' })
  })

  it('No client is made for a URL with a login, which fetch would refuse and quote each time', () => {
    for (const url of [
      'http://me:secret@127.0.0.1:9',
      'http://me@127.0.0.1:9',
      'http://:secret@127.0.0.1:9',
    ]) {
      expect(() => createClient({ url })).toThrow(new TypeError('url must have no login: send it in headers'))
    }
  })
})

describe('wait', () => {
  it('Wait polls until the transaction is final, even while the server is away', async () => {
    await using server = await scriptedServer([
      { status: 200, body: { ...view, gid: 'a/b' } },
      'cut',
      problem(503, 'SAGA_STORE_UNAVAILABLE'),
      { status: 200, body: { ...final, gid: 'a/b' } },
    ])
    expect((await createClient({ url: server.url }).wait('a/b')).status).toBe('succeeded')
    expect(server.seen.map(({ url }) => url)).toEqual(Array(4).fill('/v1/transactions/a%2Fb'))
  })

  it('An answer about another transaction, which a cache or a proxy has mixed up, is none', async () => {
    const other = { status: 200, body: { ...final, gid: 'other', ack: 'durable' } }
    const conflict = problem(409, 'SAGA_GID_CONFLICT', { gid: 'other' })
    const taken = { status: 200, body: { gid: 'other', name: 'approval', id: 'a', state: 'taken' } }
    await using server = await scriptedServer([other, conflict, taken, other])
    const client = createClient({ url: server.url, retryForMs: 0 })
    const calls = [
      () => client.submit(transfer),
      () => client.submit(transfer),
      () => client.signal('g', 'approval'),
      () => client.get('g'),
    ]
    for (const call of calls) {
      expect(await catchError(call())).toMatchObject({ meaning: 'unavailable', gid: 'g' })
    }
    expect(await catchError(client.wait('g', { timeoutMs: 100 }))).toMatchObject({
      code: 'SAGA_NOT_FINAL',
      gid: 'g',
    })
  })

  it('Wait ends after its timeout with the transaction that it saw last', async () => {
    await using server = await scriptedServer([{ status: 200, body: view }])
    const error = await catchError(createClient({ url: server.url }).wait('g', { timeoutMs: 150 }))
    expect(isNotFinal(error) && error.transaction).toEqual(view)
    expect(error).toMatchObject({ code: 'SAGA_NOT_FINAL', meaning: 'ongoing', gid: 'g' })
  })

  it('Wait ends with the error that kept it from seeing the transaction', async () => {
    const error = await catchError(createClient({ url: 'http://127.0.0.1:1' }).wait('g', { timeoutMs: 100 }))
    expect(error).toMatchObject({ code: 'SAGA_NOT_FINAL', cause: { code: 'SAGA_UNREACHABLE' } })
  })

  it('Wait ends at once where the gid is unknown, and when its signal says so', async () => {
    await using server = await scriptedServer([problem(404, 'SAGA_UNKNOWN_GID')])
    const client = createClient({ url: server.url })
    expect(await catchError(client.wait('g'))).toMatchObject({ code: 'SAGA_UNKNOWN_GID', status: 404 })
    await using still = await scriptedServer([{ status: 200, body: view }])
    const signal = AbortSignal.timeout(120)
    const error = await catchError(createClient({ url: still.url }).wait('g', { signal }))
    expect(error).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('the commands', () => {
  for (const [verb, give] of [
    ['abort', (client: Client) => client.abort('g')],
    ['retry', (client: Client) => client.retry('g')],
    ['stop', (client: Client) => client.stop('g', { reason: 'mended by hand' })],
  ] as const) {
    it(`The command ${verb} is sent again after a lost answer`, async () => {
      await using server = await scriptedServer(['cut', { status: 202, body: view }])
      expect(await give(createClient({ url: server.url }))).toEqual(view)
      expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(
        Array(2).fill(`POST /v1/transactions/g/${verb}`),
      )
    })

    it(`The command ${verb} is refused on a final transaction`, async () => {
      await using server = await scriptedServer([problem(409, 'SAGA_ALREADY_FINAL')])
      const error = await catchError(give(createClient({ url: server.url })))
      expect(error).toMatchObject({ code: 'SAGA_ALREADY_FINAL', status: 409 })
      expect(server.seen).toHaveLength(1)
    })
  }

  const late = problem(409, 'SAGA_ALREADY_FINAL')
  const aborted = { ...view, status: 'failed', abort: { cause: 'requested', at: 1 } }
  it('Abort succeeds when the first attempt, whose answer was lost, has done it', async () => {
    await using server = await scriptedServer(['cut', late, { status: 200, body: aborted }])
    expect(await createClient({ url: server.url }).abort('g')).toEqual(aborted)
  })

  it('Abort fails when the end had another reason', async () => {
    await using server = await scriptedServer(['cut', late, { status: 200, body: final }])
    expect(await catchError(createClient({ url: server.url }).abort('g'))).toMatchObject({
      code: 'SAGA_ALREADY_FINAL',
    })
  })
})

describe('list', () => {
  const items = (...gids: readonly string[]) => gids.map((gid) => ({ gid }))

  it('List goes over all pages, each asked for with the same filter', async () => {
    await using server = await scriptedServer([
      { status: 200, body: { items: items('a', 'b'), cursor: 'c1' } },
      { status: 200, body: { items: [], cursor: 'c2' } },
      { status: 200, body: { items: items('c') } },
    ])
    const gids: string[] = []
    const filter = { status: ['aborting', 'failed'], attention: true, createdFrom: 5, limit: 2 } as const
    for await (const { gid } of createClient({ url: server.url }).list(filter)) gids.push(gid)
    expect(gids).toEqual(['a', 'b', 'c'])
    const first = '/v1/transactions?status=aborting%2Cfailed&attention=true&createdFrom=5&limit=2'
    expect(server.seen.map(({ url }) => url)).toEqual([first, `${first}&cursor=c1`, `${first}&cursor=c2`])
  })

  it('List asks for tags one by one, and for an order', async () => {
    await using server = await scriptedServer([{ status: 200, body: { items: [] } }])
    const tags = { region: 'eu', url: 'a:b' }
    const filter = { name: 'transfer', tags, paused: true, gid: 'order-*', order: '-due' } as const
    for await (const _ of createClient({ url: server.url }).list(filter));
    const [, query] = server.seen[0]?.url?.split('?') ?? []
    expect([...new URLSearchParams(query)]).toEqual([
      ['tag', 'region:eu'],
      ['tag', 'url:a:b'],
      ['name', 'transfer'],
      ['paused', 'true'],
      ['gid', 'order-*'],
      ['order', '-due'],
    ])
  })

  it('List asks for no page that is not read', async () => {
    await using server = await scriptedServer([{ status: 200, body: { items: items('a'), cursor: 'c1' } }])
    for await (const { gid } of createClient({ url: server.url }).list()) if (gid === 'a') break
    expect(server.seen).toHaveLength(1)
  })
})

describe('createClient', () => {
  it('A client is not made for a URL that is not http(s)', () => {
    expect(() => createClient({ url: 'ftp://x' })).toThrow(TypeError)
    expect(() => createClient({ url: 'nowhere' })).toThrow(TypeError)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'A client is not made with a time limit of %s ms, which would end at once',
    (timeoutMs) => {
      expect(() => createClient({ url: 'http://saga', timeoutMs })).toThrow('timeoutMs must be over 0')
    },
  )

  it('Nothing is sent where the signal aborts while the API key is read', async () => {
    await using server = await scriptedServer([{ status: 200, body: final }])
    const controller = new AbortController()
    const reason = new Error('the caller has gone')
    const apiKey = async () => {
      controller.abort(reason)
      return 'cs_key'
    }
    const client = createClient({ url: server.url, apiKey })
    expect(await catchError(client.submit(transfer, { signal: controller.signal }))).toBe(reason)
    expect(server.seen).toHaveLength(0)
  })

  it('A client keeps the path of its URL', async () => {
    await using server = await scriptedServer([{ status: 200, body: final }])
    await createClient({ url: `${server.url}/counterstep/` }).get('g')
    expect(server.seen[0]?.url).toBe('/counterstep/v1/transactions/g')
  })

  it('The calls of a client have their exact types', () => {
    expectTypeOf<ReturnType<Client['submit']>>().resolves.toEqualTypeOf<SubmitView>()
    expectTypeOf<ReturnType<Client['wait']>>().resolves.toEqualTypeOf<TransactionView>()
    expectTypeOf<ReturnType<Client['list']>>().toEqualTypeOf<AsyncIterable<TransactionSummary>>()
    expectTypeOf<Parameters<Client['submit']>[0]>().not.toBeAny()
  })
})
