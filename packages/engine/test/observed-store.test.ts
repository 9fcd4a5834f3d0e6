import { StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { memoryStore, storeConformance } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { observeStore } from '../src/observed-store.ts'
import type { StoreOutcome, StoreVerb } from '../src/observer.ts'
import { FakeTime } from './support/fake-time.ts'
import { broken, FaultStore, heldBefore, refused } from './support/fault-store.ts'
import { RecordingObserver } from './support/fixture.ts'
import { Gate } from './support/gate.ts'

const runner = { describe, it, before: beforeAll, after: afterAll }

storeConformance({
  runner,
  name: 'memory, observed',
  open: async ({ now }) =>
    observeStore(memoryStore({ now }), new RecordingObserver(), new FakeTime().clock()),
})

storeConformance({
  runner,
  name: "memory, behind the tests' own wrapper",
  open: async ({ now }) => new FaultStore(memoryStore({ now }), now),
})

class CallObserver extends RecordingObserver {
  readonly calls: (readonly [StoreVerb, StoreOutcome, number])[] = []

  override storeCalled(verb?: StoreVerb, outcome?: StoreOutcome, durationMs?: number): void {
    if (verb !== undefined && outcome !== undefined) this.calls.push([verb, outcome, durationMs ?? -1])
  }
}

function fixture() {
  const time = new FakeTime()
  const faults = new FaultStore(memoryStore({ now: () => time.now }), () => time.now)
  const observer = new CallObserver()
  return { time, faults, observer, store: observeStore(faults, observer, time.clock()) }
}

const ROW = {
  gid: 'a' as Gid,
  kind: 'saga',
  status: 'submitted',
  format: 1,
  digest: 'd'.repeat(64),
  definition: '{}',
  progress: '{}',
  token: '1'.repeat(32),
  writeId: 'w1',
  hold: { type: 'owned', leaseMs: 1_000 },
  sentList: 'held',
} as const

const UPDATE = {
  gid: ROW.gid,
  token: ROW.token,
  version: 1,
  status: 'submitted',
  format: 1,
  progress: '{}',
  retrying: false,
  attention: false,
  hold: { type: 'keep' },
} as const

describe('an observed store', () => {
  it('An observed store reports each call with its outcome', async () => {
    const { store, observer } = fixture()
    await store.create(ROW)
    await store.readMany([ROW.gid])
    await store.update({ ...UPDATE, writeId: 'w2' })
    await store.update({ ...UPDATE, writeId: 'w3' })
    await store.update({ ...UPDATE, token: '2'.repeat(32), writeId: 'w4' })
    await store.update({ ...UPDATE, gid: 'b' as Gid, writeId: 'w5' })
    await store.renew([], 1_000)
    await store.claimDue({ limit: 1, leaseMs: 1_000, tokens: ['3'.repeat(32)], formatMax: 1 })
    await store.claim({ gid: ROW.gid, token: '4'.repeat(32), leaseMs: 1_000, formatMax: 1 })
    await store.postponeDue({ limit: 1, byMs: 1, formatMax: 1 })
    await store.list({ limit: 1 })
    await store.stats()
    await store.purgeFinished(1)
    const document = { category: 'topics', key: 'a', text: '', expectedVersion: 0 }
    await store.writeDocument({ ...document, writeId: 'w1' })
    await store.writeDocument({ ...document, writeId: 'w2' })
    await store.readDocuments('topics')
    await store.removeDocument({ ...document, expectedVersion: 2 })
    await store.removeDocument({ ...document, expectedVersion: 1 })
    expect(observer.calls.map(([verb, outcome]) => `${verb} ${outcome}`)).toEqual([
      'create ok',
      'read ok',
      'update ok',
      'update conflict',
      'update fenced',
      'update fenced',
      'renew ok',
      'claim-due ok',
      'claim ok',
      'postpone-due ok',
      'list ok',
      'stats ok',
      'purge ok',
      'write-document ok',
      'write-document conflict',
      'read-documents ok',
      'remove-document conflict',
      'remove-document ok',
    ])
  })

  it("An observed store tells the store's clock, once an answer has told it", async () => {
    const { store, time } = fixture()
    await store.readMany([ROW.gid])
    expect(store.readNow()).toBeUndefined()
    const { now } = await store.stats()
    await time.advance(70)
    expect(store.readNow()).toBe(now + 70)
  })

  it('An observed store times a call until its answer', async () => {
    const { store, observer, faults, time } = fixture()
    const gate = new Gate()
    faults.on('stats', heldBefore(gate))
    const call = store.stats()
    await time.advance(70)
    gate.open()
    await call
    expect(observer.calls).toEqual([['stats', 'ok', 70]])
  })

  it('A store is unavailable when no call was answered for half a second, until one is', async () => {
    const { time, store, faults, observer } = fixture()
    expect(store.isAvailable).toBe(true)
    faults.on('stats', refused)
    await expect(store.stats()).rejects.toBeInstanceOf(StoreUnavailableError)
    // The failure may have been one locked row.
    expect(store.isAvailable).toBe(true)
    await time.advance(500)
    expect(store.isAvailable).toBe(false)
    await store.stats()
    expect(store.isAvailable).toBe(true)
    faults.on('stats', broken)
    await expect(store.stats()).rejects.toBeInstanceOf(TypeError)
    expect(store.isAvailable).toBe(true)
    expect(observer.calls.map(([, outcome]) => outcome)).toEqual(['unavailable', 'ok', 'unavailable'])
  })

  it('An observed store has the properties of its store', async () => {
    const { store, faults } = fixture()
    const { name, durabilityClass, failover, capabilities } = store
    expect({ name, durabilityClass, failover, capabilities }).toEqual({
      ...{ name: faults.name, durabilityClass: 'A', failover: faults.failover },
      capabilities: faults.capabilities,
    })
    await store.close()
    await expect(store.stats()).rejects.toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE' })
  })
})
