/** Tests two nodes on one slow store, where clients, deadlines and query-backs meet at any moment. */
import { describe, expect, it } from 'vitest'
import { lostAfter, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { abort, buildMessage, buildTcc, register, submitPrepared } from './support/prepared.ts'
import { randomFrom, readCode, watched } from './support/sagas.ts'

const ROUNDS = 100
const FAST = { leaseMs: 3_000, pollMs: 100 }

async function slowFixture(random: () => number) {
  const fixture = new Fixture()
  const pick = (below: number) => Math.floor(random() * below)
  const nodes = [await fixture.node(FAST), await fixture.node(FAST)] as const
  for (const node of nodes) {
    const slow = async <T>(apply: () => Promise<T>): Promise<T> => {
      await fixture.time.delay(1 + pick(12))
      const fault = random()
      const answer =
        fault < 0.05 ? await refused(apply) : fault < 0.1 ? await lostAfter(apply) : await apply()
      await fixture.time.delay(1 + pick(8))
      return answer
    }
    for (const verb of ['read', 'update', 'renew', 'claim-due'] as const)
      node.store.on(verb, slow, { times: Number.POSITIVE_INFINITY })
  }
  fixture.services.otherwise = async () => {
    await fixture.time.delay(1 + pick(12))
    return random() < 0.15 ? 'unknown' : 'success'
  }
  return { fixture, pick, node: () => nodes[pick(2)] ?? nodes[0] }
}

describe.each([1, 2].map((seed) => seed * 7_919))('commands to prepared transactions, seed %i', (seed) => {
  it(`end a TCC as they were answered, with every branch that was registered (${ROUNDS} rounds)`, async () => {
    const random = randomFrom(seed)
    const ends = new Map<string, number>()
    for (let round = 0; round < ROUNDS; round++) {
      const { fixture, pick, node } = await slowFixture(random)
      await node().submit(buildTcc('t', { deadlineMs: 100 + pick(200), retry: { initialMs: 10, capMs: 50 } }))
      const given: { name: string; state: { value?: string; isSettled: boolean } }[] = []
      for (const name of ['a', 'b', random() < 0.5 ? 'abort' : 'submit', 'c', 'submit']) {
        await fixture.time.advance(pick(120))
        const asked =
          name === 'abort'
            ? abort(node(), 't')
            : name === 'submit'
              ? submitPrepared(node(), 't')
              : register(node(), 't', name)
        given.push({ name, state: watched(readCode(asked)) })
      }
      await fixture.time.until('all answered', () => given.every(({ state }) => state.isSettled))
      await fixture.time.until('final', async () =>
        ['succeeded', 'failed'].includes(await fixture.status('t')),
      )
      const status = await fixture.status('t')
      const calls = new Set(fixture.services.listCalls('t'))
      const told = `round ${round}: ${given.map(({ name, state }) => `${name} ${state.value}`).join(', ')} → ${status}: ${[...calls]}`
      const op = status === 'succeeded' ? 'confirm' : 'cancel'
      expect(
        [...calls].every((call) => call.endsWith(op)),
        told,
      ).toBe(true)
      for (const { name, state } of given) {
        const isAccepted = state.value === 'accepted'
        if (!isAccepted) expect(['SAGA_NOT_PREPARED', 'SAGA_ALREADY_FINAL'], told).toContain(state.value)
        else if (name === 'submit') expect(status, told).toBe('succeeded')
        else if (name === 'abort') expect(status, told).toBe('failed')
        else expect([...calls], told).toContain(`${name} ${op}`)
      }
      ends.set(status, (ends.get(status) ?? 0) + 1)
    }
    expect(ends.get('succeeded')).toBeGreaterThan(5)
    expect(ends.get('failed')).toBeGreaterThan(5)
  })

  it(`deliver a message if and only if a submit or a query-back says so (${ROUNDS} rounds)`, async () => {
    const random = randomFrom(seed)
    const ends = new Map<string, number>()
    for (let round = 0; round < ROUNDS; round++) {
      const { fixture, pick, node } = await slowFixture(random)
      const hasCommitted = random() < 0.6
      const otherwise = fixture.services.otherwise
      fixture.services.otherwise = (call) => {
        if (call.op !== 'msg') return otherwise(call)
        return random() < 0.3 ? 'unknown' : hasCommitted ? 'success' : 'failure'
      }
      const check = { url: 'http://bank.test/query', afterMs: 20 + pick(100) }
      await node().submit(buildMessage('m', 2, { check, retry: { initialMs: 10, capMs: 50 } }))
      await fixture.time.advance(pick(200))
      const asked = watched(readCode(hasCommitted ? submitPrepared(node(), 'm') : abort(node(), 'm')))
      const status = hasCommitted ? 'succeeded' : 'failed'
      await fixture.time.until('answered', () => asked.isSettled)
      await fixture.untilStatus('m', status)
      const told = `round ${round}: ${hasCommitted} ${asked.value} ${fixture.services.listCalls('m')}`
      expect(['accepted', 'SAGA_ALREADY_FINAL'], told).toContain(asked.value)
      expect(fixture.services.listEffects('m'), told).toEqual(hasCommitted ? ['01 action', '02 action'] : [])
      ends.set(status, (ends.get(status) ?? 0) + 1)
    }
    expect(ends.get('succeeded')).toBeGreaterThan(5)
    expect(ends.get('failed')).toBeGreaterThan(5)
  })
})
