import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { saga } from '@counterstep/sdk'
import { silentLogger } from '@counterstep/server/logger'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CounterstepOptions, createCounterstep, type OwnCounterstep } from '../src/index.ts'

let folder = ''
let service: Server
let paths: string[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-own-'))
  paths = []
  service = createServer(({ url = '' }, response) => {
    const path = url.split('?', 1)[0] ?? ''
    paths.push(path)
    response.writeHead(path === '/full' ? 409 : 200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterEach(async () => {
  service.closeAllConnections()
  service.close()
  await rm(folder, { recursive: true, force: true })
})

const own = (settings: CounterstepOptions['settings'] = {}): Promise<OwnCounterstep> =>
  createCounterstep({
    settings,
    store: (onEvent) => openSqliteStore({ path: join(folder, 'own.db'), onEvent }),
    targets: 'loopback',
    logger: silentLogger,
  })
const url = (path: string) => `http://127.0.0.1:${(service.address() as AddressInfo).port}${path}`

describe('createCounterstep', () => {
  it('An embedded orchestrator runs a saga to its end without any server', async () => {
    await using counterstep = await own()
    await counterstep.start()
    const trip = saga()
      .branch('seat', { action: url('/seat'), compensation: url('/seat/undo') })
      .branch('room', { action: url('/full') })
    const view = await counterstep.submit(trip, { waitMs: 10_000 })
    expect(view).toMatchObject({ gid: trip.gid, status: 'failed', abort: { cause: 'branch-failed' } })
    expect(paths).toEqual(['/seat', '/full', '/seat/undo'])
    expect((await counterstep.list({ status: ['failed'] })).items).toHaveLength(1)
  })

  it('An embedded orchestrator tells the tracer that it is given what it does', async () => {
    const told: string[] = []
    const tracer: NonNullable<CounterstepOptions['tracer']> = {
      startAccept({ gid, kind }) {
        told.push(`accept ${kind} ${gid}`)
        return { trace: undefined, end: () => told.push('accepted') }
      },
      startRun({ gid }) {
        told.push(`run ${gid}`)
        return undefined
      },
    }
    await using counterstep = await createCounterstep({
      store: (onEvent) => openSqliteStore({ path: join(folder, 'traced.db'), onEvent }),
      targets: 'loopback',
      logger: silentLogger,
      tracer,
    })
    await counterstep.start()
    await counterstep.submit({ gid: 'trip-1', branches: [{ action: url('/seat') }] }, { waitMs: 10_000 })
    expect(told).toEqual(['accept saga trip-1', 'run trip-1', 'accepted'])
  })

  it('An embedded orchestrator goes on with what was stored before it closed', async () => {
    const first = await own()
    await first.start()
    const branches = [{ action: url('/seat') }]
    const { gid } = await first.submit({ gid: 'later', branches, delayMs: 500 })
    await first.close()
    expect(paths).toEqual([])
    await using second = await own()
    await second.start()
    await expect.poll(async () => (await second.get(gid))?.status, { timeout: 20_000 }).toBe('succeeded')
  })

  it('A second close, of any kind, resolves together with the first, when the calls have ended', async () => {
    const events = new EventEmitter()
    const [called, answered] = [once(events, 'called'), once(events, 'answered')]
    const ended: string[] = []
    const counterstep = await createCounterstep({
      store: (onEvent) => openSqliteStore({ path: join(folder, 'own.db'), onEvent }),
      branches: {
        seats: {
          '/seat': async () => {
            events.emit('called')
            await answered
            ended.push('call')
            return { answer: { statusCode: 200 } }
          },
        },
      },
      logger: silentLogger,
    })
    await counterstep.start()
    await counterstep.submit(saga().branch('seat', { action: 'seats:/seat' }))
    await called
    const closes = [
      counterstep.close().then(() => ended.push('first')),
      counterstep.close().then(() => ended.push('second')),
      counterstep[Symbol.asyncDispose]().then(() => ended.push('disposed')),
    ]
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toEqual([])
    events.emit('answered')
    await Promise.all(closes)
    expect(ended).toEqual(['call', 'first', 'second', 'disposed'])
  })

  it('Each close of an orchestrator whose store fails to close says so', async () => {
    const counterstep = await createCounterstep({
      store: async (onEvent) => {
        const store = await openSqliteStore({ path: join(folder, 'own.db'), onEvent })
        const close = store.close.bind(store)
        store.close = () => close().then(() => Promise.reject(new Error('no clean close')))
        return store
      },
      targets: 'loopback',
      logger: silentLogger,
    })
    for (const closing of [counterstep.close(), counterstep.close()])
      await expect(closing).rejects.toThrow(AggregateError)
  })

  it('An embedded orchestrator refuses work once it has closed', async () => {
    const counterstep = await own()
    await counterstep.start()
    await counterstep.close()
    await expect(counterstep.submit({ branches: [{ action: url('/seat') }] })).rejects.toMatchObject({
      code: expect.stringMatching(/^SAGA_/),
    })
  })

  it('An embedded orchestrator takes a workflow only where its settings say so', async () => {
    const order = { gid: 'order', kind: 'workflow', workflow: 'order', handler: url('/full') } as const
    {
      await using counterstep = await own()
      await counterstep.start()
      await expect(counterstep.submit(order)).rejects.toMatchObject({ code: 'SAGA_KIND_UNSUPPORTED' })
    }
    await using counterstep = await own({ acceptNewKinds: true })
    await counterstep.start()
    expect(await counterstep.submit(order)).toMatchObject({ kind: 'workflow', status: 'submitted' })
    await expect.poll(async () => (await counterstep.get('order'))?.problem).toBe('order plan 409')
  })

  it('An unknown option is refused before anything is opened', async () => {
    const options = {
      store: () => Promise.reject(new Error('opened')),
      targets: 'loopback',
      face: true,
    } as const
    await expect(createCounterstep(options)).rejects.toThrow('counterstep has no option face')
  })
})
