import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { viewRow } from '../src/view-row.ts'
import { broken, heldAnswer, heldBefore, isFinish, lostAfter, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { preparedTcc, submitPrepared } from './support/prepared.ts'
import { buildParallel, buildSaga, randomFrom, readCode, watched } from './support/sagas.ts'

describe('a command', () => {
  it.each(['abort', 'retry', 'stop'] as const)('%s of an unknown gid says so', async (command) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    expect(await readCode(node.command(command, 'nobody'))).toBe('SAGA_UNKNOWN_GID')
  })

  it.each(['abort', 'retry', 'stop'] as const)(
    '%s of a finished saga is refused on every node, and changes nothing',
    async (command) => {
      const fixture = new Fixture()
      const nodes = [await fixture.node(), await fixture.node()]
      await nodes[0]?.submit(buildSaga('a'), { waitMs: 1_000 })
      const before = await fixture.row('a')
      for (const node of nodes) expect(await readCode(node.command(command, 'a'))).toBe('SAGA_ALREADY_FINAL')
      expect(await fixture.row('a')).toEqual(before)
    },
  )

  it('The owner learns of an abort on another node within a third of the lease, and compensates', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 9_000 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    const second = fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 3))
    const view = await two.command('abort', 'a')
    expect(view).toMatchObject({ status: 'aborting', abort: { cause: 'requested' } })
    expect((await one.get('a'))?.status).toBe('aborting')
    await fixture.time.advance(3_000)
    expect((await fixture.row('a')).sentList).toBe('unknown')
    expect(fixture.services.listCalls('a')).toContain('03 compensate')
    second.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a')).toEqual([
      '01 action',
      '02 action',
      '03 compensate',
      '02 compensate',
      '01 compensate',
    ])
    expect(fixture.services.listEffects('a')).toEqual([
      '01 action',
      '02 action',
      '02 compensate',
      '01 compensate',
    ])
    expect((await fixture.row('a')).epoch).toBe(1)
  })

  it('The owner learns of an abort on another node at once where the store tells of it, and of many by one renewal', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 9_000 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    for (const gid of ['a', 'b']) {
      fixture.services.defer(gid, '02', 'action')
      await one.submit(buildSaga(gid, 3))
      await two.command('abort', gid)
    }
    const before = one.store.count('renew')
    one.store.tellCommand('nobody')
    for (const gid of ['a', 'b', 'a']) one.store.tellCommand(gid)
    await fixture.time.advance(1)
    expect(one.store.count('renew') - before).toBe(1)
    for (const gid of ['a', 'b']) expect(fixture.services.listCalls(gid)).toContain('03 compensate')
  })

  it('The owner compensates for an abort on another node only when that cannot be lost any more', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 9_000 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 3))
    const gate = new Gate()
    one.store.on('settle', refused)
    one.store.on('settle', heldBefore(gate))
    await two.command('abort', 'a')
    await fixture.time.until('the row was read', () => gate.waiting === 1)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    gate.open()
    await fixture.time.advance(1)
    expect(fixture.services.listCalls('a')).toContain('03 compensate')
  })

  it('An abort that is durable before the finish wins, and the owner compensates', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const gate = new Gate()
    one.store.on('update', heldBefore(gate), { when: isFinish })
    const waited = watched(one.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.until('the finish is on its way', () => gate.waiting === 1)
    await two.command('abort', 'a')
    gate.open()
    await fixture.untilStatus('a', 'failed')
    expect(one.seen.named('save-conflict')).toHaveLength(1)
    expect(waited.value?.status).toBe('failed')
    expect(fixture.services.listEffects('a')).toEqual([
      '01 action',
      '02 action',
      '02 compensate',
      '01 compensate',
    ])
  })

  it("A repeated abort on the owner's node is refused once another node has stopped the saga", async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    await one.command('abort', 'a')
    expect((await one.command('abort', 'a')).status).toBe('aborting')
    await two.command('stop', 'a')
    expect((await one.get('a'))?.status).toBe('stopped')
    expect(await readCode(one.command('abort', 'a'))).toBe('SAGA_ALREADY_FINAL')
  })

  it('A repeated abort on a node that was frozen is refused once another node has finished the saga', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 3_000, pollMs: 500 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a'))
    await one.command('abort', 'a')
    one.freeze()
    await fixture.untilStatus('a', 'failed')
    expect((await two.get('a'))?.status).toBe('failed')
    one.thaw()
    expect(await readCode(one.command('abort', 'a'))).toBe('SAGA_ALREADY_FINAL')
  })

  it('A repeated abort after the late answer of an older save is refused once another node has stopped the saga', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const late = new Gate()
    one.store.on('update', heldAnswer(late))
    const first = watched(one.command('abort', 'a'))
    await fixture.time.until('it is stored', () => late.waiting === 1)
    await two.command('stop', 'a')
    expect((await one.get('a'))?.status).toBe('stopped')
    const again = watched(readCode(one.command('abort', 'a')))
    await fixture.time.flush()
    late.open()
    await fixture.time.until('both are answered', () => first.isSettled && again.isSettled)
    expect(again.value).toBe('SAGA_ALREADY_FINAL')
  })

  it('A command that is refused where the saga runs has the reason of the stored row', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), fixture.idleNode()]
    await preparedTcc(fixture, one, 't')
    fixture.services.defer('t', 'b', 'confirm')
    await submitPrepared(one, 't')
    await fixture.time.until('it runs there', () => one.engine.health().inFlight === 1)
    expect(await readCode(one.command('abort', 't'))).toBe('SAGA_NOT_PREPARED')
    await two.command('stop', 't')
    expect(one.engine.health().inFlight).toBe(1)
    expect(await readCode(one.command('abort', 't'))).toBe('SAGA_ALREADY_FINAL')
  })

  it('A command that is done already shows the same as a read, though the row is older', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.defer('a', '01', 'compensate')
    const second = fixture.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a'))
    await node.command('abort', 'a')
    second.answer('success')
    await fixture.time.until('the second is undone', () =>
      fixture.services.listCalls('a').includes('01 compensate'),
    )
    const seen = await node.get('a')
    expect(await node.command('abort', 'a')).toEqual(seen)
    expect(viewRow(await fixture.row('a'))).not.toEqual(seen)
  })

  it('A command on the row does not wait for one whose caller was told that its outcome is unknown', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), fixture.idleNode()]
    fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const hung = new Gate()
    two.store.on('read', heldBefore(hung))
    const first = watched(readCode(two.command('abort', 'a')))
    await fixture.time.until('its read hangs', () => hung.waiting === 1)
    await fixture.time.advance(1_000)
    const second = watched(readCode(two.command('abort', 'a')))
    await fixture.time.until('both are answered', () => first.isSettled && second.isSettled)
    expect([first.value, second.value]).toEqual(['SAGA_STORE_UNAVAILABLE', 'accepted'])
    hung.open()
  })

  it('An abort during the finish is refused when the finish is durable', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('update', heldBefore(gate), { when: isFinish })
    await node.submit(buildSaga('a'))
    await fixture.time.until('the finish is on its way', () => gate.waiting === 1)
    const code = watched(readCode(node.command('abort', 'a')))
    await fixture.time.advance(100)
    expect(code.isSettled).toBe(false)
    gate.open()
    await fixture.time.flush()
    expect(code.value).toBe('SAGA_ALREADY_FINAL')
  })

  it('A stop during a finish that meets a foreign abort still stops the saga', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const gate = new Gate()
    one.store.on('update', heldBefore(gate), { when: isFinish })
    await one.submit(buildSaga('a'))
    await fixture.time.until('the finish is on its way', () => gate.waiting === 1)
    const stopped = watched(one.command('stop', 'a'))
    await two.command('abort', 'a')
    gate.open()
    await fixture.time.until('answered', () => stopped.isSettled)
    if (stopped.value !== undefined) {
      expect(stopped.value.status).toBe('stopped')
      expect(await fixture.status('a')).toBe('stopped')
    } else {
      expect(stopped.error).toMatchObject({ code: 'SAGA_ALREADY_FINAL' })
    }
  })

  it("An abort that loses against another node's stop is refused", async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const gate = new Gate()
    one.store.on('update', heldBefore(gate))
    const aborted = watched(readCode(one.command('abort', 'a')))
    await fixture.time.flush()
    await two.command('stop', 'a')
    gate.open()
    await fixture.time.until('answered', () => aborted.isSettled)
    expect(await fixture.status('a')).toBe('stopped')
    expect(aborted.value).toBe('SAGA_ALREADY_FINAL')
  })

  it('An abort is given to the row when its owner loses the saga before the abort is durable', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 3_000, pollMs: 500, storeTimeoutMs: 60_000 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    const calls = [fixture.services.defer('a', '01', 'action'), fixture.services.defer('a', '01', 'action')]
    await one.submit(buildSaga('a'))
    const gate = new Gate()
    for (const verb of ['update', 'renew'] as const) one.store.on(verb, heldBefore(gate), { times: 50 })
    one.store.on('claim-due', refused, { times: Number.POSITIVE_INFINITY })
    const aborted = watched(one.command('abort', 'a'))
    await fixture.time.until('claimed by the other', () => two.seen.claims.length === 1)
    expect(aborted.isSettled).toBe(false)
    gate.open()
    await fixture.time.until('answered', () => aborted.isSettled)
    expect([aborted.value?.status, await fixture.status('a')]).toEqual(['aborting', 'aborting'])
    // The new owner learns of it with its next renewal.
    await fixture.time.advance(2_000)
    for (const call of calls) call.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A stop ends the saga at once, and its calls in flight do not matter', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    expect((await node.command('stop', 'a')).status).toBe('stopped')
    call.answer('success')
    await fixture.time.advance(20_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    expect(await fixture.status('a')).toBe('stopped')
  })

  it('A stop on another node ends the saga at once, and its owner learns of it and drops it', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '01', 'action')
    const waited = watched(one.submit(buildSaga('a'), { waitMs: 60_000 }))
    await fixture.time.advance(4_000)
    expect((await two.command('stop', 'a')).status).toBe('stopped')
    // A final status that one node has shown is shown by all: it is never taken back.
    expect((await one.get('a'))?.status).toBe('stopped')
    expect(one.engine.health().inFlight).toBe(1)
    await fixture.time.advance(10_000)
    expect(one.engine.health().inFlight).toBe(0)
    expect(waited.value?.status).toBe('stopped')
  })

  it('A second abort changes nothing', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const views = [await one.command('abort', 'a'), await one.command('abort', 'a')]
    views.push(await two.command('abort', 'a'))
    expect(views.map(({ status }) => status)).toEqual(['aborting', 'aborting', 'aborting'])
    call.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('An abort starts none of the calls that wait for their turn', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ callsInFlightMax: 1 })
    const first = fixture.services.defer('a', '01', 'action')
    await node.submit(buildParallel('a', 3))
    await node.command('abort', 'a')
    first.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').filter((call) => call.endsWith('action'))).toEqual(['01 action'])
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A command that was given already is answered only when its row cannot be lost any more', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    await two.command('abort', 'a')
    const gate = new Gate()
    two.store.on('settle', heldBefore(gate))
    const again = watched(two.command('abort', 'a'))
    await fixture.time.flush()
    expect(again.isSettled).toBe(false)
    gate.open()
    await fixture.time.flush()
    expect(again.value).toMatchObject({ status: 'aborting' })
    two.store.on('settle', refused, { times: Number.POSITIVE_INFINITY })
    const unknown = watched(readCode(two.command('abort', 'a')))
    await fixture.time.advance(60_000)
    expect(unknown.value).toBe('SAGA_STORE_UNAVAILABLE')
  })

  it('A command is refused because of an end on another node only when that cannot be lost any more', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    await one.submit(buildSaga('a'), { waitMs: 1_000 })
    const gate = new Gate()
    two.store.on('settle', heldBefore(gate))
    const refusal = watched(readCode(two.command('abort', 'a')))
    await fixture.time.flush()
    expect(refusal.isSettled).toBe(false)
    gate.open()
    await fixture.time.flush()
    expect(refusal.value).toBe('SAGA_ALREADY_FINAL')
  })

  it("A command on a row at rest takes the store's clock, whatever this node's says", async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ wallClockAheadMs: 86_400_000 })
    await node.submit(buildSaga('a', 2, { delayMs: 60_000 }))
    await fixture.time.advance(20_000)
    expect((await fixture.row('a')).owned).toBe(false)
    await node.command('abort', 'a')
    const { abort } = (await node.get('a')) ?? {}
    expect(fixture.time.now - (abort?.at ?? 0)).toBeLessThan(1_000)
    expect(abort?.at).toBeLessThanOrEqual(fixture.time.now)
  })

  it("A command's write without an answer is sent again until it is definite", async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    for (const fault of [refused, lostAfter]) two.store.on('update', fault)
    two.store.on('read', refused, { times: 2 })
    const aborted = watched(two.command('abort', 'a'))
    await fixture.time.until('answered', () => aborted.isSettled)
    expect(aborted.value?.status).toBe('aborting')
    call.answer('success')
    await fixture.untilStatus('a', 'failed')
  })

  it.each(['here', 'elsewhere'])(
    'of a saga that runs %s says within storeTimeoutMs when the store is away',
    async (where) => {
      const fixture = new Fixture()
      const [one, two] = [await fixture.node(), await fixture.node()]
      const call = fixture.services.defer('a', '01', 'action')
      await one.submit(buildSaga('a'))
      const node = where === 'here' ? one : two
      const comeBack = node.store.goDown(refused)
      const code = watched(readCode(node.command('abort', 'a')))
      await fixture.time.advance(3_000)
      expect(code.value).toBe('SAGA_STORE_UNAVAILABLE')
      comeBack()
      call.answer('success')
      await fixture.untilStatus('a', where === 'here' ? 'failed' : 'succeeded')
    },
  )

  it('A command waits for an accept of its gid that is under way', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    fixture.services.defer('a', '01', 'action')
    node.store.on('create', heldBefore(gate))
    const submitted = watched(node.submit(buildSaga('a')))
    await fixture.time.flush()
    const stopped = watched(node.command('stop', 'a'))
    await fixture.time.advance(100)
    gate.open()
    await fixture.time.flush()
    expect(submitted.isSettled).toBe(true)
    expect(stopped.value?.status).toBe('stopped')
  })

  it('An answer that meets a bug frees its slot for the next call', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 9_000, callsInFlightMax: 1 })
    fixture.jitter = () => {
      fixture.jitter = () => 0.5
      throw new Error('broken')
    }
    await node.submit(buildSaga('a'))
    await fixture.time.flush()
    expect(node.seen.named('transaction-attempt-failed')).toHaveLength(1)
    await node.submit(buildSaga('b'))
    await fixture.untilStatus('b', 'succeeded', 1_000)
  })

  it('A bug in a save gives the saga up here, and it goes on after the lease', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 9_000 })
    node.store.on('update', broken)
    await node.submit(buildSaga('a'))
    await fixture.time.flush()
    expect(node.seen.named('transaction-attempt-failed')).toHaveLength(1)
    await fixture.untilStatus('a', 'succeeded', 15_000)
    expect((await fixture.row('a')).epoch).toBe(2)
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
  })
})

type Command = 'abort' | 'stop' | 'retry'

describe('commands from another node at any moment', () => {
  const ROUNDS = 100
  it.each([1, 2, 3, 4].map((seed) => [seed * 7_919]))(
    `end in what they were answered with, and in nothing half done (seed %i, ${ROUNDS} rounds)`,
    async (seed) => {
      const random = randomFrom(seed)
      const seen = { accepted: 0, final: 0, failed: 0, succeeded: 0, stopped: 0, other: 0 }
      for (let round = 0; round < ROUNDS; round++) {
        const { codes, status } = await interleave(random, `seed ${seed} round ${round}`)
        for (const code of codes) seen[code === 'accepted' ? 'accepted' : 'final']++
        if (status === 'failed' || status === 'succeeded' || status === 'stopped') seen[status]++
        else seen.other++
      }
      expect(seen.other).toBe(0)
      // The test is not vacuous: every end and both answers have occurred.
      for (const met of [seen.accepted, seen.final, seen.failed, seen.succeeded, seen.stopped]) {
        expect(met).toBeGreaterThan(3)
      }
    },
  )
})

async function interleave(random: () => number, title: string) {
  const fixture = new Fixture()
  const pick = (below: number) => Math.floor(random() * below)
  const settings = { leaseMs: 3_000, checkpointMs: random() < 0.3 ? 0 : 1_000 }
  const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
  for (const node of [one, two]) {
    const slow = async <T>(apply: () => Promise<T>): Promise<T> => {
      const { times, fault } = { times: pick(3) * 4, fault: random() }
      if (times > 0) await fixture.time.delay(times)
      const answer =
        fault < 0.05 ? await refused(apply) : fault < 0.1 ? await lostAfter(apply) : await apply()
      if (random() < 0.5) await fixture.time.delay(pick(8))
      return answer
    }
    // A create with a definite refusal would end the round before it has begun.
    for (const verb of ['read', 'update', 'renew', 'claim-due'] as const)
      node.store.on(verb, slow, { times: Number.POSITIVE_INFINITY })
  }
  const branches = 1 + pick(4)
  const willFail = random() < 0.2
  fixture.services.otherwise = async ({ op, branchId }) => {
    await fixture.time.delay(1 + pick(12))
    if (op === 'action' && willFail && branchId === '02') return 'failure'
    return random() < 0.1 ? 'unknown' : random() < 0.1 ? 'lost' : 'success'
  }
  const request = random() < 0.5 ? buildSaga('a', branches) : buildParallel('a', branches)
  const submitted = watched(one.submit({ ...request, retry: { initialMs: 10, capMs: 50 } }))
  const given: { command: Command; state: { value?: string; isSettled: boolean } }[] = []
  let abortsUntil = 0
  for (let n = 0, count = 1 + pick(3); n < count; n++) {
    await fixture.time.advance(pick(25))
    const drawn = random()
    const command = drawn < 0.65 ? 'abort' : drawn < 0.8 ? 'stop' : 'retry'
    const node = random() < 0.75 ? two : one
    given.push({ command, state: watched(readCode(node.command(command, 'a'))) })
    abortsUntil += command === 'abort' ? 1 : 0
  }
  await fixture.time.until(`${title}: all answered`, () => given.every(({ state }) => state.isSettled))
  await fixture.time.until(
    `${title}: final`,
    async () => (await fixture.rows()) === 1 && (await fixture.unfinished()) === 0,
  )
  await fixture.time.advance(10_000)
  const status = await fixture.status('a')
  const effects = fixture.services.listEffects('a')
  const codes = given.map(({ state }) => state.value ?? '')
  const told = `${title}: ${given.map(({ command }, n) => `${command} ${codes[n]}`).join(', ')} → ${status}: ${effects}`
  expect(submitted.isSettled, told).toBe(true)
  expect(new Set(effects).size, told).toBe(effects.length)
  const done = effects.filter((effect) => effect.endsWith('action'))
  const undone = effects.filter((effect) => effect.endsWith('compensate'))
  if (status === 'succeeded') expect([done.length, undone.length], told).toEqual([branches, 0])
  if (status === 'failed') expect(undone.length, told).toBe(done.length)
  given.forEach(({ command }, n) => {
    const accepted = codes[n] === 'accepted'
    if (!accepted) expect(['SAGA_ALREADY_FINAL', 'SAGA_UNKNOWN_GID'], told).toContain(codes[n])
    if (accepted && command === 'abort') expect(['failed', 'stopped'], told).toContain(status)
    if (accepted && command === 'stop') expect(status, told).toBe('stopped')
  })
  const stops = given.filter(({ command }, n) => command === 'stop' && codes[n] === 'accepted').length
  if (abortsUntil > 0 && stops === 0 && status === 'stopped') {
    // A stop that was written but whose answer was lost is refused as already final. No other command may end so.
    expect(
      given.some(({ command }) => command === 'stop'),
      told,
    ).toBe(true)
  }
  for (const node of [one, two]) expect(node.engine.health().inFlight, told).toBe(0)
  expect(await fixture.store.readMany(['a' as Gid]), told).toHaveLength(1)
  return { codes: codes.filter((code) => code !== 'SAGA_UNKNOWN_GID'), status }
}
