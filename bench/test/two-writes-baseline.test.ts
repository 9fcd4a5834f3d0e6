import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewTransaction, Store, TransactionUpdate } from '@counterstep/core'
import { createEngine, DEFAULT_SETTINGS, type EngineObserver, nodeClock, nodeIds } from '@counterstep/engine'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { afterAll, expect, it } from 'vitest'
import { PAYLOAD } from '../src/scenarios/payload.ts'
import { toSubmitBody } from '../src/scenarios/saga-job.ts'
import { beginSaga } from '../src/two-writes-baseline/begin-saga.ts'
import { definitionText, finishedText, type RelayedBranch } from '../src/two-writes-baseline/saga-texts.ts'

const BRANCHES = 3
const ANSWER = '{"ok":true}'
const REQUEST = toSubmitBody({ branchUrl: 'http://127.0.0.1:3001', branches: BRANCHES }) as {
  readonly branches: readonly RelayedBranch[]
}
const folder = mkdtempSync(join(tmpdir(), 'counterstep-two-writes-baseline-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Writes {
  readonly creates: readonly NewTransaction[]
  readonly updates: readonly TransactionUpdate[]
}

async function recordWrites(name: string, run: (store: Store) => Promise<void>): Promise<Writes> {
  const store = await openSqliteStore({ path: join(folder, name, 'store.db') })
  const creates: NewTransaction[] = []
  const updates: TransactionUpdate[] = []
  const recording: Store = new Proxy(store, {
    get(target, verb) {
      if (verb === 'create') {
        return (row: NewTransaction) => {
          creates.push(row)
          return target.create(row)
        }
      }
      if (verb === 'update') {
        return (row: TransactionUpdate) => {
          updates.push(row)
          return target.update(row)
        }
      }
      const value: unknown = Reflect.get(target, verb)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  try {
    await run(recording)
  } finally {
    await store.close()
  }
  return { creates, updates }
}

/** This observer ignores every event. */
const silent = new Proxy({}, { get: () => () => undefined }) as EngineObserver

async function throughTheEngine(store: Store): Promise<void> {
  const engine = createEngine({
    store,
    branches: {
      call: () => Promise.resolve({ result: 'success', statusCode: 200, excerpt: ANSWER }),
      close: () => Promise.resolve(),
    },
    checkUrl: () => undefined,
    clock: nodeClock(),
    ids: nodeIds(),
    observer: silent,
    settings: DEFAULT_SETTINGS,
  })
  await engine.start()
  await engine.submit(REQUEST, { waitMs: 10_000 })
  await engine.close()
}

async function throughTheRelay(store: Store): Promise<void> {
  const { branches } = REQUEST
  const saga = await beginSaga(store, definitionText(branches))
  const startedAt = Date.now()
  const call = { startedAt, endedAt: startedAt, answer: ANSWER }
  await saga.finish(finishedText(branches.map(() => call)))
}

const drawn = { gid: expect.any(String), token: expect.any(String), writeId: expect.any(String) }

it('The two-writes baseline gives its store what the engine gives it for a saga', async () => {
  const engine = await recordWrites('engine', throughTheEngine)
  const relay = await recordWrites('relay', throughTheRelay)
  expect([engine.creates.length, engine.updates.length]).toEqual([1, 1])
  const [create] = engine.creates
  expect(relay.creates).toEqual([{ ...create, ...drawn, digest: expect.any(String) }])
  expect(relay.creates[0]?.definition).toContain(JSON.stringify(JSON.stringify(PAYLOAD)))
  const [update] = engine.updates
  expect(relay.updates).toEqual([{ ...update, ...drawn, progress: expect.any(String) }])
  // Instants differ.
  const shape = (text = '') => text.replace(/\d{13}/g, 'instant').replace(/"durationMs":\d+/g, 'duration')
  expect(shape(relay.updates[0]?.progress)).toBe(shape(update?.progress))
})
