import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newTransactionRow, parseSubmission, type Store } from '@counterstep/core'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import { saga } from '@counterstep/sdk'
import { createRegistry } from '@counterstep/server'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { counterstep, type PluginOptions } from '../src/index.ts'
import { KEYLESS, registerEmbedded } from './embedded-app.ts'
import { Participant } from './participant.ts'

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-embedded-'))
  path = join(folder, 'counterstep.db')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a transaction of JSON-RPC that a server of an older version has stored', () => {
  it('A stored JSON-RPC transaction is not called by an app on the same store either, and its view says why', async () => {
    await using bank = await Participant.open()
    await using app = await registerEmbedded(path, {
      store: async () => {
        const store = await openSqliteStore({ path })
        await store.create(buildStoredByDtm('old', `${bank.url}/rpc?method=debit`))
        return store
      },
      settings: { pollMs: 100, leaseMs: 1_000 },
    })
    await app.ready()
    const first = async () => (await app.counterstep.get('old'))?.branches[0]?.ops[0]
    await vi.waitFor(async () => expect(await first()).toMatchObject({ error: 'json-rpc' }), 10_000)
    expect(bank.paths).toEqual([])
  })
})

/** Builds the row of a saga with the note of DTM's API beside its definition, due at once. */
function buildStoredByDtm(gid: string, action: string) {
  const retry = DEFAULT_SETTINGS.retry
  const parsed = parseSubmission(
    { gid, branches: [{ action }] },
    { retry, timeoutMs: 1_000, checkpointMs: 0 },
    () => undefined,
  )
  if (parsed.type === 'refused') throw new Error(parsed.faults[0].message)
  const definition = { ...parsed.submission.definition, note: 'dtm {"t":"1","r":"1","p":"json-rpc"}' }
  const ids = { gid: gid as Gid, digest: '0'.repeat(64), token: '1'.repeat(32), writeId: 'w-1' }
  const run = { leaseMs: 1, holdMs: 1_000, retentionMs: 'never', releaseKeepsSentList: true } as const
  return newTransactionRow({ ...parsed.submission, definition }, ids, run)
}

describe('app.counterstep', () => {
  it('An app runs a saga of the SDK to its end, with nothing on a port', async () => {
    await using bank = await Participant.open()
    await using app = await registerEmbedded(path)
    await app.ready()
    const transfer = saga()
      .branch('debit', { action: `${bank.url}/debit`, compensation: `${bank.url}/debit/undo` })
      .branch('credit', { action: `${bank.url}/credit` })
    const view = await app.counterstep.submit(transfer, { waitMs: 10_000 })
    expect(view).toMatchObject({ gid: transfer.gid, status: 'succeeded', ack: 'durable' })
    expect(bank.paths).toEqual(['/debit', '/credit'])
    expect(await app.counterstep.get(transfer.gid)).toMatchObject({ status: 'succeeded' })
    expect((await app.counterstep.list({ status: ['succeeded'] })).items).toHaveLength(1)
    expect(await app.counterstep.get('nobody')).toBeUndefined()
  })

  it('An app compensates, and may be a participant itself', async () => {
    const calls: string[] = []
    const own = fastify()
    own.post('/seat', async () => calls.push('seat'))
    own.post('/seat/undo', async () => calls.push('seat undone'))
    own.post('/pay', async (_request, reply) => reply.code(409).send({}))
    await using app = await registerEmbedded(path, {}, own)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const branches = [
      { action: `${url}/seat`, compensation: `${url}/seat/undo`, payload: {} },
      { action: `${url}/pay`, payload: {} },
    ]
    const view = await app.counterstep.submit({ branches }, { waitMs: 10_000 })
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'branch-failed' } })
    expect(calls).toEqual(['seat', 'seat undone'])
  })

  it('Commands are given by plain gids', async () => {
    await using bank = await Participant.open((called) => (called === '/slow' ? 425 : 200))
    await using app = await registerEmbedded(path)
    await app.ready()
    const branches = [{ action: `${bank.url}/slow`, compensation: `${bank.url}/undo` }]
    await app.counterstep.submit({ gid: 'x', branches })
    await bank.called('/slow')
    const view = await app.counterstep.abort('x', { reason: 'the customer left', waitMs: 10_000 })
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'requested' } })
    await expect(app.counterstep.retry('x')).rejects.toMatchObject({ code: 'SAGA_ALREADY_FINAL' })
    await expect(app.counterstep.stop('none', { reason: 'why' })).rejects.toMatchObject({
      code: 'SAGA_UNKNOWN_GID',
    })
    await expect(app.counterstep.get('no gid')).rejects.toMatchObject({ code: 'SAGA_GID_INVALID' })
  })

  it('A payload may be what JSON may be, and a copy of it is taken', async () => {
    await using app = await registerEmbedded(path)
    await app.ready()
    const submit = (payload: unknown) =>
      app.counterstep.submit({
        delayMs: 3_600_000,
        branches: [{ action: 'http://127.0.0.1:9/x', payload: payload as string }],
      })
    const circular: Record<string, unknown> = {}
    circular.self = circular
    expect(await submit({ at: new Date(0), left: undefined })).toMatchObject({ status: 'submitted' })
    await expect(submit({ cents: Number.NaN })).rejects.toMatchObject({ code: 'SAGA_NUMBER_NOT_EXACT' })
    await expect(submit({ cents: 1n })).rejects.toMatchObject({ code: 'SAGA_NUMBER_NOT_EXACT' })
    await expect(submit(circular)).rejects.toMatchObject({ code: 'SAGA_MALFORMED_JSON' })
    await expect(submit('x'.repeat(1_100_000))).rejects.toMatchObject({ code: 'SAGA_BODY_TOO_LARGE' })
  })

  it('An app calls nothing that the targets do not name', async () => {
    await using app = await registerEmbedded(path, {
      targets: { services: { bank: 'https://bank.example' } },
    })
    await app.ready()
    const submit = (action: string) => app.counterstep.submit({ delayMs: 3_600_000, branches: [{ action }] })
    await expect(submit('http://127.0.0.1:9/x')).rejects.toMatchObject({ code: 'SAGA_TARGET_NOT_ALLOWED' })
    expect(await submit('bank:/debit')).toMatchObject({ status: 'submitted' })
  })
})

describe('the end of the app', () => {
  it('The end of the app lets a call end, keeps its answer, and leaves the rest to the next start', async () => {
    const gate = new EventEmitter()
    const opened = once(gate, 'open')
    await using bank = await Participant.open(async (called) => {
      if (called === '/first') await opened
      return 200
    })
    const first = await registerEmbedded(path)
    await first.ready()
    const branches = [{ action: `${bank.url}/first` }, { action: `${bank.url}/second` }]
    await first.counterstep.submit({ gid: 'x', branches })
    await bank.called('/first')
    const closed = first.close()
    await expect.poll(() => first.counterstep.health().reason).toBe('stopping')
    await expect(first.counterstep.submit({ branches })).rejects.toMatchObject({ code: 'SAGA_STOPPING' })
    gate.emit('open')
    await closed
    expect(bank.paths).toEqual(['/first'])
    await using second = await registerEmbedded(path)
    await second.ready()
    await bank.called('/second')
    await expect.poll(async () => (await second.counterstep.get('x'))?.status).toBe('succeeded')
    expect(bank.paths).toEqual(['/first', '/second'])
  })

  it('The end of the app comes within 10 s though a branch never answers, and a waiting caller is answered', async () => {
    await using bank = await Participant.open(() => new Promise(() => undefined))
    const own = fastify()
    own.get('/order', async () =>
      own.counterstep.submit({ branches: [{ action: `${bank.url}/hangs` }] }, { waitMs: 60_000 }),
    )
    const app = await registerEmbedded(path, { settings: { branchTimeoutMs: 60_000 } }, own)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const answer = fetch(`${url}/order`)
    await bank.called('/hangs')
    const startedAt = performance.now()
    await app.close()
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect((await answer).status).toBe(200)
    expect(await (await answer).json()).toMatchObject({ status: 'submitted' })
  })

  it('The end of the app closes the store that the plugin opened, and no other', async () => {
    const store = await openSqliteStore({ path })
    const app = await registerEmbedded(path, { store })
    await app.ready()
    await app.close()
    expect((await store.stats()).attention).toBe(0)
    await store.close()
    let opened: Store | undefined
    const owner = await registerEmbedded(path, {
      store: async () => {
        opened = await openSqliteStore({ path })
        return opened
      },
    })
    await owner.ready()
    await owner.close()
    await expect(opened?.stats()).rejects.toThrow('the store is closed')
  })

  it('The end of the app has given everything back before its own hook closes the store', async () => {
    const gate = new EventEmitter()
    const opened = once(gate, 'open')
    await using bank = await Participant.open(async (called) => {
      if (called === '/first') await opened
      return 200
    })
    const store = await openSqliteStore({ path })
    const first = await registerEmbedded(path, { store })
    first.addHook('onClose', () => store.close())
    await first.ready()
    const branches = [{ action: `${bank.url}/first` }, { action: `${bank.url}/second` }]
    await first.counterstep.submit({ gid: 'x', branches })
    await bank.called('/first')
    const closed = first.close()
    await expect.poll(() => first.counterstep.health().reason).toBe('stopping')
    gate.emit('open')
    await closed
    await using second = await registerEmbedded(path)
    await second.ready()
    await expect.poll(async () => (await second.counterstep.get('x'))?.status).toBe('succeeded')
    expect(bank.paths).toEqual(['/first', '/second'])
  })
})

describe('a registration', () => {
  const keysFile = '/nowhere/keys.json'
  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['no targets', { targets: undefined }, /needs targets/],
    ['empty targets', { targets: { services: {} } }, /needs targets/],
    [
      'a target with a path',
      { targets: { allow: ['https://bank.example/x'] } },
      /targets.allow has an item 1/,
    ],
    ['a service that is no URL', { targets: { services: { Bank: 'x' } } }, /targets.services has an item 1/],
    ['a misspelled option', { prefix: '/x' }, /no option prefix/],
    ['a misspelled setting', { settings: { leaseMS: 5_000 } }, /no option leaseMS/],
    ['a setting out of range', { settings: { leaseMs: 0 } }, /leaseMs must be/],
    ['settings that contradict each other', { settings: { pollMs: 20_000 } }, /pollMs is over leaseMs/],
    ['a face without keys', { face: {} }, /needs one of keysFile/],
    ['a face with and without keys', { face: { keysFile, insecureNoKeys: true } }, /needs one of keysFile/],
    ['keys that are switched off by half', { face: { insecureNoKeys: false } }, /needs one of keysFile/],
    ['a face at the root', { face: { ...KEYLESS, prefix: '/' } }, /prefix must be/],
    [
      'a quota of nothing',
      { face: { keysFile, quotaPerKey: { submitsMax: 0 } } },
      /quotaPerKey.submitsMax must be/,
    ],
    [
      'a quota that is a number',
      { face: { keysFile, quotaPerKey: 5 as never } },
      /quotaPerKey must be an object/,
    ],
    ['a misspelled quota', { face: { keysFile, quotaPerKey: { rowsMax: 1 } } }, /no option rowsMax/],
    ['a rate of nothing', { face: { keysFile, ratePerKey: 0 } }, /ratePerKey must be/],
    ['a host that is not a host name', { face: { ...KEYLESS, allowedHosts: ['a b'] } }, /allowedHosts\[0\]/],
    ['a bound of no calls', { calls: { originsMax: 0 } }, /originsMax must be/],
    ['no store', { store: undefined }, /needs a store/],
  ]
  for (const [what, options, message] of refused) {
    it(`A registration is refused for ${what}, before anything is opened`, async () => {
      let opened = 0
      const app = fastify()
      const store = async () => {
        opened += 1
        return openSqliteStore({ path })
      }
      // Only TypeScript refuses such options.
      const given = { store, targets: 'loopback', ...options } as PluginOptions
      await expect(app.register(counterstep, given)).rejects.toThrow(message)
      expect(opened).toBe(0)
    })
  }

  it('A registration takes a registry of metrics, so that there are metrics without the HTTP API', async () => {
    await using bank = await Participant.open()
    const registry = createRegistry()
    await using app = await registerEmbedded(path, { registry })
    await app.ready()
    await app.counterstep.submit({ branches: [{ action: bank.url }] }, { waitMs: 10_000 })
    expect(await registry.metrics()).toContain('counterstep_transactions_accepted_total{kind="saga"} 1')
  })

  it('A registration that fails later closes the store that it opened', async () => {
    let opened: Store | undefined
    const registered = registerEmbedded(path, {
      store: async () => {
        opened = await openSqliteStore({ path })
        return opened
      },
      face: { keysFile },
    })
    await expect(registered).rejects.toMatchObject({ code: 'SAGA_KEYS_UNUSABLE' })
    await expect(opened?.stats()).rejects.toThrow('the store is closed')
  })

  it('S20: A registration warns of a retention in which barriers cannot tell a reused gid', async () => {
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    await using app = await registerEmbedded(path, { logger, settings: { retentionMs: 60_000 } })
    await app.ready()
    expect(logger.warn.mock.calls).toEqual([
      [{}, expect.stringContaining('settings.retentionMs (60000) is under 90000000')],
    ])
  })

  it('A registration warns of a range of addresses with every port', async () => {
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    for (const allow of [['http://10.0.0.0/8:*'], ['http://10.0.0.0/8:8080']]) {
      await using app = await registerEmbedded(path, { logger, targets: { allow } })
      await app.ready()
    }
    expect(logger.warn.mock.calls).toEqual([[{}, expect.stringContaining('a range with every port')]])
  })

  it('A registration fails with its own reason when its store cannot be closed after that, and logs why not', async () => {
    const unclosable = new Error('the store cannot be closed')
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    const registered = registerEmbedded(path, {
      store: async () => {
        const store = await openSqliteStore({ path })
        const close = store.close.bind(store)
        return Object.assign(store, { close: () => close().then(() => Promise.reject(unclosable)) })
      },
      face: { keysFile },
      logger,
    })
    await expect(registered).rejects.toMatchObject({ code: 'SAGA_KEYS_UNUSABLE' })
    expect(logger.warn.mock.calls).toMatchObject([[{ err: { errors: [unclosable] } }, 'clean-up failed']])
  })

  it('A second registration in one app is refused, with the way out', async () => {
    await using app = await registerEmbedded(path)
    const again = app.register(counterstep, { store: () => openSqliteStore({ path }), targets: 'loopback' })
    await expect(again).rejects.toThrow(
      /has counterstep already; register a second one, .* in a scope beside/,
    )
  })

  it('Two registrations work in scopes beside each other, each with its own store and HTTP API', async () => {
    await using bank = await Participant.open()
    await using app = fastify()
    for (const name of ['one', 'two']) {
      await app.register(async (scope) => {
        const face = { ...KEYLESS, prefix: `/${name}` }
        await registerEmbedded(join(folder, `${name}.db`), { face }, scope)
        scope.post(`/orders/${name}`, async () =>
          scope.counterstep.submit(
            { gid: 'x', branches: [{ action: `${bank.url}/${name}` }] },
            { waitMs: 10_000 },
          ),
        )
      })
    }
    for (const name of ['one', 'two']) {
      const answer = await app.inject({ method: 'POST', url: `/orders/${name}` })
      expect(answer.json()).toMatchObject({ status: 'succeeded' })
      const seen = await app.inject({ url: `/${name}/v1/transactions` })
      expect(seen.json().items).toHaveLength(1)
    }
    expect(bank.paths).toEqual(['/one', '/two'])
  })
})
