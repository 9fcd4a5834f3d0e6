import type { BranchCall, TccBranch } from '@counterstep/core'
import type { BranchId, Gid, SagaSubmitRequest } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture, type TestNode } from '../support/fixture.ts'
import { Gate } from '../support/gate.ts'
import type { Answer } from '../support/participants.ts'
import { readCode } from '../support/sagas.ts'

/** This is a scaled-down node. A few hundred sagas have the effect on it that 4,096 have on a real one. */
const NODE = { inFlightMax: 400, callsInFlightMax: 400, recoveryInFlightMax: 100, claimLimit: 20 }
const MANY = 450

function sagaTo(gid: string, ...origins: readonly string[]): SagaSubmitRequest & { readonly gid: string } {
  const branches = origins.map((origin) => ({
    action: `${origin}/${gid}/action`,
    compensation: `${origin}/${gid}/undo`,
  }))
  return { gid, timeoutMs: 900_000, branches }
}

/** Builds a saga whose definition has 322 KiB, so that it takes 11 places. */
function largeSagaTo(gid: string, origin: string): SagaSubmitRequest & { readonly gid: string } {
  const branches = sagaTo(gid, origin, origin).branches.map((branch) => ({
    ...branch,
    payload: 'x'.repeat(161 * 1024),
  }))
  return { ...sagaTo(gid), branches }
}

/** Calls to a host whose name begins with `hang` are not answered while the gate is closed. */
function hangFixture(): { readonly fixture: Fixture; readonly gate: Gate } {
  const fixture = new Fixture()
  const gate = new Gate()
  fixture.services.otherwise = async ({ url }: BranchCall): Promise<Answer> => {
    if (url.includes('//hang') || url.includes('//HANG')) await gate.pass()
    return 'success'
  }
  return { fixture, gate }
}

async function flood(node: TestNode, count: number, chooseOrigins: (n: number) => readonly string[]) {
  const codes = new Map<string, number>()
  for (let n = 0; n < count; n++) {
    const code = await readCode(node.submit(sagaTo(`hang-${n}-${node.name}`, ...chooseOrigins(n))))
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  return { accepted: codes.get('accepted') ?? 0, refused: codes.get('SAGA_TARGET_OVER_CAPACITY') ?? 0, codes }
}

function tccBranch(): TccBranch {
  const url = 'http://healthy.test'
  const common = { body: '', contentType: 'application/json', headers: {} }
  return { id: '01' as BranchId, confirm: `${url}/confirm`, cancel: `${url}/cancel`, ...common }
}

const BIG = Array.from({ length: 100 }, () => 'http://hang.test')
/** All known ways in which a target that hangs could take all places. */
const ATTACKS: readonly (readonly [string, (n: number) => readonly string[]])[] = [
  ['one origin', () => ['http://hang.test']],
  ['a healthy first branch', () => ['http://healthy.test', 'http://hang.test']],
  [
    'an origin in other spellings',
    (n) => [['http://hang.test', 'http://HANG.test', 'http://hang.test:80'][n % 3] ?? ''],
  ],
  ['three origins', (n) => [`http://hang${n % 3}.test`]],
  ['origins that hang one after the other', (n) => [`http://hang${Math.floor(n / 40)}.test`]],
  ['a new origin for each', (n) => [`http://hang${n}.test`]],
  ['a first branch at a new origin for each', (n) => [`http://ok${n}.test`, 'http://hang.test']],
]

describe('S40: sagas that hang at', () => {
  for (const [title, chooseOrigins] of ATTACKS) {
    it(`${title} leave room for sagas and cancels elsewhere`, async () => {
      const { fixture } = hangFixture()
      const node = await fixture.node(NODE)
      await node.engine.submit({ gid: 'tcc', kind: 'tcc', deadlineMs: 3_600_000 })
      await node.engine.addBranch('tcc' as Gid, tccBranch())
      // A target that was called within the last minute has its own counters, however many others come.
      await node.submit(sagaTo('before', 'http://healthy.test'))
      await fixture.untilStatus('before', 'succeeded', 1_000)
      const { refused, codes } = await flood(node, MANY, chooseOrigins)
      await fixture.time.advance(10)
      expect([...codes.keys()].sort()).toEqual(['SAGA_TARGET_OVER_CAPACITY', 'accepted'])
      expect(refused).toBeGreaterThan(0)
      // A refused transaction was not stored.
      expect(await fixture.rows()).toBe(2 + (codes.get('accepted') ?? 0))
      for (let n = 0; n < 5; n++) {
        await node.submit(sagaTo(`good-${n}`, 'http://healthy.test'))
        await fixture.untilStatus(`good-${n}`, 'succeeded', 1_000)
      }
      await node.command('abort', 'tcc')
      await fixture.untilStatus('tcc', 'failed', 2_000)
      expect(fixture.services.listCalls('tcc')).toEqual(['01 cancel'])
    })
  }

  it('a thousand names leave a listed origin its places, though it was never called before', async () => {
    const { fixture } = hangFixture()
    const hangs = fixture.services.otherwise
    fixture.services.otherwise = async (call) => {
      if (call.url.includes('healthy')) await fixture.time.delay(1_000)
      return hangs(call)
    }
    const node = await fixture.node({ ...NODE, listedOrigins: ['http://healthy.test', 'http://other.test'] })
    await flood(node, 1_000, (n) => [`http://hang${n}.test`])
    // They are sent at once, because each of them takes a second.
    for (let n = 0; n < 60; n++) await node.submit(sagaTo(`good-${n}`, 'http://healthy.test'))
    await fixture.time.advance(1_500)
    for (let n = 0; n < 60; n++) expect(await fixture.status(`good-${n}`)).toBe('succeeded')
  })

  it('the same, where each starts a moment later: its place is taken from the submit on', async () => {
    const { fixture } = hangFixture()
    const node = await fixture.node(NODE)
    const codes = new Set<string>()
    for (let n = 0; n < MANY; n++)
      codes.add(await readCode(node.submit({ ...sagaTo(`late-${n}`, 'http://hang.test'), delayMs: 1_000 })))
    expect([...codes].sort()).toEqual(['SAGA_TARGET_OVER_CAPACITY', 'accepted'])
    await node.submit(sagaTo('good', 'http://healthy.test'))
    await fixture.untilStatus('good', 'succeeded', 500)
  })

  it('the same, where each call fails at once and is waited for in memory', async () => {
    const { fixture } = hangFixture()
    fixture.services.otherwise = ({ url }) => (url.includes('//hang') ? 'unknown' : 'success')
    const node = await fixture.node(NODE)
    const codes = new Set<string>()
    const retry = { initialMs: 1_000, capMs: 1_000 }
    for (let n = 0; n < MANY; n++) {
      codes.add(await readCode(node.submit({ ...sagaTo(`poison-${n}`, 'http://hang.test'), retry })))
      await fixture.time.flush()
    }
    expect([...codes].sort()).toEqual(['SAGA_TARGET_OVER_CAPACITY', 'accepted'])
    await node.submit(sagaTo('good', 'http://healthy.test'))
    await fixture.untilStatus('good', 'succeeded', 500)
  })

  it('the same, where the branches of each go there at once: their calls wait, and not those of others', async () => {
    const { fixture } = hangFixture()
    const node = await fixture.node(NODE)
    const wide = { ...sagaTo('wide', ...BIG) }
    for (let n = 0; n < 8; n++) {
      const branches = wide.branches.map((branch) => ({ ...branch, after: [] }))
      await node.submit({ ...wide, gid: `wide-${n}`, branches })
    }
    await fixture.time.advance(10)
    expect(fixture.services.inFlight).toBeLessThanOrEqual(200)
    await node.submit(sagaTo('good', 'http://healthy.test'))
    await fixture.untilStatus('good', 'succeeded', 1_000)
  })

  it('mutant: without a share, one origin that hangs stops every submit elsewhere', async () => {
    const { fixture } = hangFixture()
    const node = await fixture.node({ ...NODE, targetShare: 1 })
    await flood(node, MANY, () => ['http://hang.test'])
    expect(await readCode(node.submit(sagaTo('good', 'http://healthy.test')))).toBe('SAGA_OVER_CAPACITY')
  })

  it('many places each, since they are large, are as many fewer', async () => {
    const { fixture } = hangFixture()
    const node = await fixture.node(NODE)
    const codes = new Map<string, number>()
    for (let n = 0; n < 30; n++) {
      const code = await readCode(node.submit(largeSagaTo(`hang-${n}`, 'http://hang.test')))
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    // One target may use 150 places, and each of these sagas takes 11.
    expect(codes).toEqual(
      new Map([
        ['accepted', 14],
        ['SAGA_TARGET_OVER_CAPACITY', 16],
      ]),
    )
    await node.submit(sagaTo('good', 'http://healthy.test'))
    await fixture.untilStatus('good', 'succeeded', 1_000)
  })

  it('many places each, and were claimed, are a few at a time, and all end once the target answers', async () => {
    const { fixture, gate } = hangFixture()
    const one = fixture.idleNode(NODE)
    for (let n = 0; n < 40; n++)
      await one.submit({ ...largeSagaTo(`hang-${n}`, 'http://hang.test'), delayMs: 2_000 })
    one.kill()
    const two = await fixture.node(NODE)
    let most = 0
    for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 100) {
      await fixture.time.advance(100)
      most = Math.max(most, two.engine.health().inFlight)
    }
    expect(most).toBeGreaterThan(2)
    expect(most).toBeLessThan(30)
    gate.open()
    for (let n = 0; n < 40; n++) await fixture.untilStatus(`hang-${n}`, 'succeeded', 400_000)
  })

  it('says to its caller that a share is full, and to the log which target it is', async () => {
    const { fixture } = hangFixture()
    const node = await fixture.node(NODE)
    await flood(node, MANY, () => ['http://hang.test'])
    const error = await node.submit(sagaTo('more', 'http://hang.test')).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('share')
    expect(String(error)).not.toContain('hang.test')
    expect(node.seen.named('target-over-share').map(({ detail }) => detail)).toEqual(['http://hang.test'])
    expect(node.engine.health().targetsAtShare).toBe(1)
  })
})

describe('S40: after a restart', () => {
  it('a saga of a hundred branches that finds no room looks once at a time, and not once for each branch', async () => {
    const { fixture, gate } = hangFixture()
    const one = await fixture.node({ ...NODE, targetShare: 1, leaseMs: 2_000 })
    await flood(one, 60, () => ['http://hang.test'])
    const branches = sagaTo('wide', ...BIG).branches.map((branch) => ({ ...branch, after: [] }))
    await one.submit({ ...sagaTo('wide'), branches })
    one.kill()
    let draws = 0
    fixture.jitter = () => {
      draws++
      return 0.5
    }
    const two = await fixture.node({ ...NODE, leaseMs: 2_000, pollMs: 100 })
    await fixture.time.until(
      'the rows are claimed',
      () => two.store.count('claim-due') > 0 && fixture.services.inFlight > 160,
    )
    await fixture.time.advance(1_500)
    expect(draws).toBeGreaterThan(20)
    expect(draws).toBeLessThan(300)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 240_000)
    expect(fixture.services.listEffects('wide')).toHaveLength(100)
  })

  async function restart(share: number, rows = 300) {
    const { fixture, gate } = hangFixture()
    const large = { inFlightMax: 4_000, callsInFlightMax: 4_000 }
    const one = await fixture.node({ ...NODE, ...large, targetShare: 1, leaseMs: 2_000 })
    await flood(one, rows, () => ['http://hang.test'])
    fixture.services.defer('good', '01', 'action')
    await one.submit(sagaTo('good', 'http://healthy.test'))
    await fixture.time.advance(10)
    one.kill()
    const two = await fixture.node({ ...NODE, targetShare: share, leaseMs: 2_000, pollMs: 100 })
    return { fixture, gate, two }
  }

  it('recovery of rows elsewhere goes on, and the rows that hang are given back and lost nowhere', async () => {
    const { fixture, gate, two } = await restart(0.5)
    await fixture.untilStatus('good', 'succeeded', 5_000)
    const polls = two.store.count('claim-due')
    await fixture.time.advance(120_000)
    // Each row is claimed once in 15 s to 30 s, and not over and over.
    const claims = two.seen.claims.reduce((sum, count) => sum + count, 0)
    expect(claims).toBeLessThan(301 + 300 * (120 / 15))
    expect(two.store.count('claim-due') - polls).toBeLessThan(4_000)
    const rows = await Promise.all([...Array(300).keys()].map((n) => fixture.row(`hang-${n}-node-1`)))
    expect(rows.every(({ attention }) => !attention)).toBe(true)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 240_000)
    const counts = rows.map(({ gid }) => fixture.services.listEffects(gid).length)
    expect(counts).toEqual(rows.map(() => 1))
  })

  it('the same, where the origin that hangs goes on answering other calls', async () => {
    const { fixture, two } = await restart(0.5)
    const hangs = fixture.services.otherwise
    fixture.services.otherwise = (call) => (call.gid.startsWith('quick') ? 'success' : hangs(call))
    for (let n = 0; n < 40; n++) {
      await two.submit(sagaTo(`quick-${n}`, 'http://hang.test'))
      await fixture.time.advance(500)
    }
    expect(await fixture.status('quick-39')).toBe('succeeded')
    expect(await fixture.status('good')).toBe('succeeded')
  })

  it('what becomes due by itself elsewhere does not wait for the rows of a target that answers now and then', async () => {
    const { fixture, gate, two } = await restart(0.5, 1_500)
    const hangs = fixture.services.otherwise
    fixture.services.otherwise = (call) => (call.gid.startsWith('quick') ? 'success' : hangs(call))
    const dueAt = new Map<string, number>()
    const lateBy: number[] = []
    fixture.services.onArrival = ({ gid }) => {
      const at = dueAt.get(gid)
      if (at !== undefined) lateBy.push(fixture.time.now - at)
    }
    for (let n = 0; n < 60; n++) {
      await two.submit(sagaTo(`quick-${n}`, 'http://hang.test'))
      dueAt.set(`due-${n}`, fixture.time.now + 1_500)
      await two.submit({ ...sagaTo(`due-${n}`, 'http://healthy.test'), delayMs: 1_500 })
      await fixture.time.advance(500)
    }
    expect(lateBy.length).toBeGreaterThan(50)
    expect(Math.max(...lateBy)).toBeLessThan(1_000)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 240_000)
  })

  it('the backlog of a target that works is not slower than its answers', async () => {
    const { fixture, gate, two } = await restart(0.5, 1_500)
    const answers = fixture.services.otherwise
    fixture.services.otherwise = async (call) => {
      await fixture.time.delay(50)
      return answers(call)
    }
    gate.open()
    const startedAt = fixture.time.now
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 240_000)
    // There are 57 places, each used for 50 ms, so there are at most 1,140 calls a second.
    expect(fixture.time.now - startedAt).toBeLessThan(6_000)
    expect(two.seen.claims.reduce((sum, count) => sum + count, 0)).toBeLessThan(6_000)
  })

  it('rows at hundreds of names that hang leave recovery room for a listed origin', async () => {
    const { fixture } = hangFixture()
    const large = { inFlightMax: 4_000, callsInFlightMax: 4_000 }
    const one = await fixture.node({ ...NODE, ...large, targetShare: 1, leaseMs: 2_000 })
    await flood(one, 600, (n) => [`http://hang${n}.test`])
    for (let n = 0; n < 20; n++) {
      fixture.services.defer(`good-${n}`, '01', 'action')
      await one.submit(sagaTo(`good-${n}`, 'http://healthy.test'))
    }
    await fixture.time.advance(10)
    one.kill()
    const hangs = fixture.services.otherwise
    fixture.services.otherwise = async (call) => {
      if (call.url.includes('healthy')) await fixture.time.delay(1_000)
      return hangs(call)
    }
    const listedOrigins = ['http://healthy.test']
    await fixture.node({ ...NODE, leaseMs: 2_000, pollMs: 100, listedOrigins })
    await fixture.time.advance(2_000)
    await fixture.time.advance(3_000)
    for (let n = 0; n < 20; n++) expect(await fixture.status(`good-${n}`)).toBe('succeeded')
  })

  for (const [what, decide] of [
    ['cancel', (node: TestNode) => node.command('abort', 'tcc')],
    ['confirm', (node: TestNode) => node.engine.submitPrepared('tcc' as Gid)],
  ] as const) {
    it(`the ${what} of a TCC elsewhere does not wait for the backlog of a target that answers now and then`, async () => {
      const { fixture, two } = await restart(0.5)
      const hangs = fixture.services.otherwise
      fixture.services.otherwise = (call) => (call.gid.startsWith('quick') ? 'success' : hangs(call))
      await two.engine.submit({ gid: 'tcc', kind: 'tcc', deadlineMs: 3_600_000 })
      await two.engine.addBranch('tcc' as Gid, tccBranch())
      for (let n = 0; n < 12; n++) {
        await two.submit(sagaTo(`quick-${n}`, 'http://hang.test'))
        await fixture.time.advance(500)
      }
      await decide(two)
      await fixture.untilStatus('tcc', what === 'cancel' ? 'failed' : 'succeeded', 500)
      expect(fixture.services.listCalls('tcc')).toEqual([`01 ${what}`])
    })
  }

  it('mutant: without a share the rows that hang fill the room, and nothing else goes on', async () => {
    const { fixture } = await restart(1)
    await fixture.time.advance(60_000)
    expect(await fixture.status('good')).toBe('submitted')
  })
})
