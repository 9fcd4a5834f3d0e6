import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../src/settings.ts'
import { heldAnswer, heldBefore, isRelease, lostAfter, refused } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import {
  abort,
  answered,
  buildRegistration,
  buildTcc,
  preparedTcc,
  register,
  submitPrepared,
} from './support/prepared.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

const FAST = { leaseMs: 3_000, pollMs: 500 }

describe('a TCC', () => {
  it('A TCC is prepared, gets its branches, and calls no branch before it is submitted', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    expect(await node.submit(buildTcc('t'))).toMatchObject({ kind: 'tcc', status: 'prepared', branches: [] })
    expect((await register(node, 't', 'a')).branches).toMatchObject([{ id: 'a' }])
    expect((await register(node, 't', 'b')).branches).toMatchObject([{ id: 'a' }, { id: 'b' }])
    await fixture.time.advance(30_000)
    expect(fixture.services.listCalls('t')).toEqual([])
    expect(node.engine.health().inFlight).toBe(0)
    expect(await fixture.row('t')).toMatchObject({ status: 'prepared', owned: false, epoch: 1, format: 2 })
  })

  it('A TCC is confirmed after the submit, the newest branch first', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await preparedTcc(fixture, node, 't')
    expect((await submitPrepared(node, 't')).status).toBe('submitted')
    await fixture.untilStatus('t', 'succeeded')
    expect(fixture.services.listCalls('t')).toEqual(['b confirm', 'a confirm'])
  })

  it('A TCC is cancelled after the abort, the newest branch first', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await preparedTcc(fixture, node, 't')
    expect(await abort(node, 't')).toMatchObject({
      status: 'aborting',
      abort: { cause: 'requested', reason: 'no money' },
    })
    await fixture.untilStatus('t', 'failed')
    expect(fixture.services.listCalls('t')).toEqual(['b cancel', 'a cancel'])
  })

  it('A TCC is cancelled at its deadline, and not before', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await preparedTcc(fixture, node, 't', { deadlineMs: 8_000 })
    await fixture.time.advance(7_900)
    expect(await fixture.status('t')).toBe('prepared')
    await fixture.untilStatus('t', 'failed', 1_500)
    expect(fixture.services.listCalls('t')).toEqual(['b cancel', 'a cancel'])
    expect(await node.get('t')).toMatchObject({ abort: { cause: 'deadline' } })
    expect(fixture.services.calls[0]?.at).toBeGreaterThanOrEqual((await fixture.row('t')).createdAt + 8_000)
  })

  it('A TCC without branches ends with its submit or its abort', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await node.submit(buildTcc('s'))
    expect((await submitPrepared(node, 's')).status).toBe('succeeded')
    await node.submit(buildTcc('t'))
    expect((await answered(fixture, abort(node, 't', 5_000))).status).toBe('failed')
    expect(fixture.services.calls).toEqual([])
  })

  it('A failed confirm is called again, a person is told, and the TCC never turns back', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    fixture.services.script('t', 'b', 'confirm', 'failure', 'unknown', 'ongoing')
    await preparedTcc(fixture, node, 't')
    await submitPrepared(node, 't')
    await fixture.time.advance(300)
    expect(await node.get('t')).toMatchObject({ attention: 'confirm of branch b answered failure' })
    await fixture.untilStatus('t', 'succeeded')
    expect(fixture.services.listCalls('t')).toEqual([
      'b confirm',
      'b confirm',
      'b confirm',
      'b confirm',
      'a confirm',
    ])
    expect(await node.get('t')).not.toHaveProperty('attention')
  })
})

describe('a command to a TCC', () => {
  it('A command to a TCC may be given to any node', async () => {
    const fixture = new Fixture()
    const [one, two, three] = [await fixture.node(FAST), await fixture.node(FAST), await fixture.node(FAST)]
    await one.submit(buildTcc('t'))
    await register(two, 't', 'a')
    await register(three, 't', 'b')
    expect((await answered(fixture, submitPrepared(two, 't', 10_000))).status).toBe('succeeded')
    expect(fixture.services.listCalls('t')).toEqual(['b confirm', 'a confirm'])
  })

  it('A command to a TCC changes nothing when it is given twice', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), await fixture.node(FAST)]
    await preparedTcc(fixture, one, 't')
    const { version } = await fixture.row('t')
    await register(two, 't', 'a')
    expect((await fixture.row('t')).version).toBe(version)
    const views = [await submitPrepared(one, 't'), await submitPrepared(two, 't')]
    expect(views.map(({ status }) => status)).not.toContain('prepared')
    await fixture.untilStatus('t', 'succeeded')
    expect((await submitPrepared(two, 't')).status).toBe('succeeded')
    expect(fixture.services.listCalls('t')).toHaveLength(2)
  })

  it('A command to a TCC is refused after the opposite one, and changes nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await preparedTcc(fixture, node, 's')
    await answered(fixture, submitPrepared(node, 's', 5_000))
    expect(await readCode(abort(node, 's'))).toBe('SAGA_ALREADY_FINAL')
    expect(await readCode(register(node, 's', 'c'))).toBe('SAGA_NOT_PREPARED')
    await preparedTcc(fixture, node, 't')
    await answered(fixture, abort(node, 't', 5_000))
    expect(await readCode(submitPrepared(node, 't'))).toBe('SAGA_NOT_PREPARED')
    expect([await fixture.status('s'), await fixture.status('t')]).toEqual(['succeeded', 'failed'])
  })

  it('A command to a TCC is refused while the TCC goes the other way, on any node', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), await fixture.node(FAST)]
    const call = fixture.services.defer('t', 'b', 'confirm')
    await preparedTcc(fixture, one, 't')
    await submitPrepared(one, 't')
    await fixture.time.until('it runs', () => fixture.services.calls.length === 1)
    for (const node of [one, two]) {
      expect(await readCode(abort(node, 't'))).toBe('SAGA_NOT_PREPARED')
      expect(await readCode(register(node, 't', 'c'))).toBe('SAGA_NOT_PREPARED')
    }
    call.answer('success')
    await fixture.untilStatus('t', 'succeeded')
  })

  it('A command is refused for an unknown gid, for a saga, and for a branch with other content', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    expect(await readCode(submitPrepared(node, 'nobody'))).toBe('SAGA_UNKNOWN_GID')
    expect(await readCode(register(node, 'nobody', 'a'))).toBe('SAGA_UNKNOWN_GID')
    fixture.services.defer('g', '01', 'action')
    await node.submit(buildSaga('g'))
    expect(await readCode(submitPrepared(node, 'g'))).toBe('SAGA_WRONG_KIND')
    expect(await readCode(register(node, 'g', 'a'))).toBe('SAGA_WRONG_KIND')
    await preparedTcc(fixture, node, 't')
    expect(await readCode(register(node, 't', 'a', { payload: 2 }))).toBe('SAGA_BRANCH_CONFLICT')
    expect(await readCode(register(node, 't', ''))).toBe('SAGA_BRANCH_ID_INVALID')
    const large = { payload: undefined, body: 'x'.repeat(250 * 1024) }
    const codes: string[] = []
    for (const id of ['c', 'd', 'e', 'f', 'g']) codes.push(await readCode(register(node, 't', id, large)))
    expect(codes.filter((code) => code !== 'accepted')).toEqual(['SAGA_PAYLOAD_TOO_LARGE'])
  })

  it('A registration is not done when another node registers other content at the same time', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), await fixture.node(FAST)]
    await one.submit(buildTcc('t'))
    const answers = await Promise.all([
      readCode(register(one, 't', 'a', { payload: 1 })),
      readCode(register(two, 't', 'a', { payload: 2 })),
    ])
    expect(answers.sort()).toEqual(['SAGA_BRANCH_CONFLICT', 'accepted'])
  })

  it('A command whose answer was lost is given again and has one effect', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await node.submit(buildTcc('t'))
    node.store.on('update', lostAfter)
    await answered(fixture, register(node, 't', 'a'))
    node.store.on('update', refused)
    node.store.on('update', lostAfter)
    expect((await answered(fixture, submitPrepared(node, 't'))).status).toBe('submitted')
    await fixture.untilStatus('t', 'succeeded')
    expect(fixture.services.listCalls('t')).toEqual(['a confirm'])
  })

  it('A waiting command is answered with the end, or after its time with the current state', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    const call = fixture.services.defer('t', 'b', 'cancel')
    await preparedTcc(fixture, node, 't')
    const waited = watched(abort(node, 't', 2_000))
    await fixture.time.advance(2_100)
    expect(waited.value?.status).toBe('aborting')
    const again = watched(abort(node, 't', 2_000))
    await fixture.time.advance(10)
    call.answer('success')
    await fixture.time.advance(500)
    expect(again.value?.status).toBe('failed')
  })
})

describe('a deadline', () => {
  it.each(['submit', 'abort'] as const)(
    'decided here at the moment in which another node registers a branch and gives the %s',
    async (decision) => {
      const fixture = new Fixture()
      const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
      await preparedTcc(fixture, one, 't', { deadlineMs: 8_000 })
      const gate = new Gate()
      one.store.on('update', heldBefore(gate))
      await fixture.time.until('it decides', () => gate.waiting === 1)
      await register(two, 't', 'c')
      const view = await (decision === 'submit' ? submitPrepared(two, 't') : abort(two, 't'))
      gate.open()
      await fixture.untilStatus('t', decision === 'submit' ? 'succeeded' : 'failed')
      const op = decision === 'submit' ? 'confirm' : 'cancel'
      expect(fixture.services.listCalls('t')).toEqual([`c ${op}`, `b ${op}`, `a ${op}`])
      expect((await one.get('t'))?.abort).toEqual(view.abort)
    },
  )

  it('A deadline that was durable first refuses the submit', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
    await preparedTcc(fixture, one, 't', { deadlineMs: 8_000 })
    const gate = new Gate()
    one.store.on('update', heldAnswer(gate))
    await fixture.time.until('it is stored', () => gate.waiting === 1)
    expect(await readCode(submitPrepared(two, 't'))).toBe('SAGA_NOT_PREPARED')
    gate.open()
    await fixture.untilStatus('t', 'failed')
  })
})

describe('a branch that is registered twice', () => {
  it('A registration is reported when it is durable, not when a save without it is', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
    await preparedTcc(fixture, one, 't')
    const [refusedSave, nextSave, byRow] = [new Gate(), new Gate(), new Gate()]
    for (const gate of [refusedSave, nextSave]) one.store.on('update', heldBefore(gate), { when: isRelease })
    await one.command('retry', 't')
    await fixture.time.until('one has it, and gives it back', () => refusedSave.waiting === 1)
    const early = watched(register(one, 't', 'c'))
    await fixture.time.flush()
    await two.command('retry', 't')
    refusedSave.open()
    await fixture.time.until('it gives back what it has read again', () => nextSave.waiting === 1)
    const late = watched(register(one, 't', 'c'))
    await fixture.time.flush()
    one.store.on('update', heldBefore(byRow))
    nextSave.open()
    await fixture.time.until('it is given back', () => byRow.waiting > 0)
    await fixture.time.flush()
    // One of them writes, and the other has its turn after it.
    expect([early.isSettled, late.isSettled, byRow.waiting]).toEqual([false, false, 1])
    byRow.open()
    await fixture.time.until('both are told', () => early.isSettled && late.isSettled)
    expect([early.error, late.error]).toEqual([undefined, undefined])
    expect((await fixture.row('t')).progress).toContain('"c"')
  })
})

describe('branches that are registered all at once', () => {
  it.each([1, 2])('are all accepted, by %i nodes', async (nodes) => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    const other = nodes === 1 ? one : fixture.idleNode(FAST)
    await one.submit(buildTcc('t'))
    const ids = Array.from({ length: 60 }, (_, number) => `b${number}`)
    const codes = ids.map((id, number) => readCode(register(number % 2 === 0 ? one : other, 't', id)))
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['accepted']))
    const { branches } = (await one.get('t')) ?? { branches: [] }
    expect(branches.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })
})

describe('a node that keeps a TCC between its commands', () => {
  const KEEPS = { ...FAST, holdMs: 60_000 }

  /** Claims the row and saves the claim, so that the next saves belong to the test's commands. */
  async function keptTcc(fixture: Fixture, node: TestNode): Promise<void> {
    await preparedTcc(fixture, node, 't', { deadlineMs: 30_000 })
    await node.command('retry', 't')
    await fixture.time.until('the node has it', () => node.engine.health().inFlight === 1)
    await fixture.time.advance(DEFAULT_SETTINGS.checkpointMs)
    expect(node.engine.health().inFlight).toBe(1)
  }

  it('Neither of two registrations of one branch is reported before it is durable', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(KEEPS), fixture.idleNode(FAST)]
    await keptTcc(fixture, one)
    const [refusedSave, learnedSave, lastSave] = [new Gate(), new Gate(), new Gate()]
    for (const gate of [refusedSave, learnedSave, lastSave]) one.store.on('update', heldBefore(gate))
    const asked = [watched(register(one, 't', 'c')), watched(register(one, 't', 'c'))]
    await fixture.time.until('it is being saved', () => refusedSave.waiting === 1)
    await two.command('retry', 't')
    refusedSave.open()
    await fixture.time.until('what was read again is being saved', () => learnedSave.waiting === 1)
    learnedSave.open()
    await fixture.time.until('it is being saved again', () => lastSave.waiting === 1)
    await fixture.time.flush()
    // One of them may have written the row itself meanwhile.
    const isDurable = (await fixture.row('t')).progress.includes('"c"')
    expect(isDurable || asked.every(({ isSettled }) => !isSettled)).toBe(true)
    lastSave.open()
    await fixture.time.until('both are told', () => asked.every(({ isSettled }) => isSettled))
    expect(asked.map(({ error }) => error)).toEqual([undefined, undefined])
    expect((await fixture.row('t')).progress).toContain('"c"')
  })

  it('A registration is reported when it is durable, whatever was asked since', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(KEEPS)
    await keptTcc(fixture, node)
    const [firstSave, nextSave] = [new Gate(), new Gate()]
    for (const gate of [firstSave, nextSave]) node.store.on('update', heldBefore(gate))
    const first = watched(register(node, 't', 'c'))
    await fixture.time.until('it is being saved', () => firstSave.waiting === 1)
    const next = watched(register(node, 't', 'd'))
    firstSave.open()
    await fixture.time.until('the next one is being saved', () => nextSave.waiting === 1)
    await fixture.time.until('the first is told', () => first.isSettled)
    expect(first.value?.branches.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(next.isSettled).toBe(false)
    nextSave.open()
    await fixture.time.until('the next is told', () => next.isSettled)
    expect(next.value?.branches.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('after a crash', () => {
  it('Another node confirms after a crash of the node that stored the submit', async () => {
    const fixture = new Fixture()
    const one = fixture.idleNode(FAST)
    await preparedTcc(fixture, one, 't')
    await submitPrepared(one, 't')
    one.kill()
    expect(fixture.services.calls).toEqual([])
    await fixture.node(FAST)
    await fixture.untilStatus('t', 'succeeded', 5_000)
    expect(fixture.services.listCalls('t')).toEqual(['b confirm', 'a confirm'])
  })

  it('Another node goes on after a crash in the middle of the confirms', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.defer('t', 'a', 'confirm')
    await preparedTcc(fixture, one, 't')
    await submitPrepared(one, 't')
    await fixture.time.advance(1_500)
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('t', 'succeeded', 10_000)
    expect(fixture.services.listCalls('t')).toEqual(['b confirm', 'a confirm', 'a confirm'])
  })

  it('Any node cancels a TCC at its deadline after a crash of its client', async () => {
    const fixture = new Fixture()
    const one = fixture.idleNode(FAST)
    await preparedTcc(fixture, one, 't', { deadlineMs: 8_000 })
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('t', 'failed', 10_000)
    expect(fixture.services.listCalls('t')).toEqual(['b cancel', 'a cancel'])
  })
})

describe('what a host reads', () => {
  it('A host reads the whole transaction with its definition', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    expect(await node.engine.read('t' as Gid)).toBeUndefined()
    await node.submit(buildTcc('t', { headers: { 'x-tenant': 'blue' } }))
    await register(node, 't', 'a')
    expect(await node.engine.read('t' as Gid)).toMatchObject({
      kind: 'tcc',
      status: 'prepared',
      definition: { headers: { 'x-tenant': 'blue' }, deadlineMs: 35_000 },
      registered: [{ id: 'a', confirm: buildRegistration('a').confirm, body: '{"amount":1}' }],
    })
  })
})
