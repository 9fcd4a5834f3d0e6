import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@counterstep/server/logger'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { createCounterstep, type OwnCounterstep } from '../src/index.ts'

const requestOf = new AsyncLocalStorage<string>()
const CALLERS = ['alice', 'bob', 'carol']
const QUICKLY = { initialMs: 20, factor: 1 }

async function open(own: () => number): Promise<OwnCounterstep> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-async-context-'))
  const counterstep = await createCounterstep({
    store: (onEvent) => openSqliteStore({ path: join(folder, 'own.db'), onEvent }),
    targets: 'loopback',
    branches: { own: { '/act': () => ({ answer: { statusCode: own(), body: '{}', headers: {} } }) } },
    logger: silentLogger,
  })
  onTestFinished(async () => {
    await counterstep.close()
    await rm(folder, { recursive: true, force: true })
  })
  await counterstep.start()
  return counterstep
}

/** Submits a saga of each caller in the async context of its request, and waits for their ends. */
async function submitAs(counterstep: OwnCounterstep, action: string): Promise<void> {
  const ends = CALLERS.map((caller) =>
    requestOf.run(caller, () =>
      counterstep.submit({ branches: [{ action, retry: QUICKLY }] }, { waitMs: 30_000 }),
    ),
  )
  for (const { status } of await Promise.all(ends)) expect(status).toBe('succeeded')
}

it('A function of this process runs in the async context of no request, at each attempt', async () => {
  const seen: unknown[] = []
  const counterstep = await open(() => {
    seen.push(requestOf.getStore())
    return seen.length > 2 * CALLERS.length ? 200 : 500
  })
  await submitAs(counterstep, 'own:/act')
  expect(seen.length).toBeGreaterThan(2 * CALLERS.length)
  expect(new Set(seen)).toEqual(new Set([undefined]))
})

it('A call over HTTP is made in the async context of no request, at each attempt', async () => {
  let calls = 0
  const server = createServer((_request, response) => {
    calls += 1
    response.writeHead(calls > 2 * CALLERS.length ? 200 : 500).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const seen: unknown[] = []
  const see = () => seen.push(requestOf.getStore())
  subscribe('undici:request:create', see)
  onTestFinished(() => {
    unsubscribe('undici:request:create', see)
    server.close()
  })
  const counterstep = await open(() => 200)
  const { port } = server.address() as AddressInfo
  await submitAs(counterstep, `http://127.0.0.1:${port}/act`)
  expect(seen.length).toBeGreaterThan(2 * CALLERS.length)
  expect(new Set(seen)).toEqual(new Set([undefined]))
})
