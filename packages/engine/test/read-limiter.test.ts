import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { ReadLimiter, toLane } from '../src/read-limiter.ts'
import { FakeTime } from './support/fake-time.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import type { Answer } from './support/participants.ts'
import { buildBranch, buildParallel, buildSaga, watched } from './support/sagas.ts'

const BOUNDS = { atOnceMax: 2, waitingMax: 600, waitMs: 1_000, restFactor: 3, restMsMax: 100 }

function laneAt(time: FakeTime, bounds = BOUNDS) {
  const limiter = new ReadLimiter(time.clock(), bounds)
  const ends: (() => void)[] = []
  let underWay = 0
  const ask = (caller?: string) =>
    watched(
      limiter.run(async () => {
        underWay++
        await new Promise<void>((resolve) => ends.push(resolve))
        underWay--
        return 'read'
      }, caller),
    )
  return { ask, end: () => ends.shift()?.(), underWay: () => underWay }
}

describe('the limiter of readers', () => {
  it('has few reads under way at once, the oldest first', async () => {
    const time = new FakeTime()
    const { ask, end, underWay } = laneAt(time)
    const asked = [ask(), ask(), ask(), ask()]
    await time.flush()
    expect(underWay()).toBe(2)
    end()
    await time.flush()
    expect(underWay()).toBe(2)
    expect(asked.map(({ isSettled }) => isSettled)).toEqual([true, false, false, false])
  })

  it('refuses what does not come to its turn in time, and at once what is over the bound of those that wait', async () => {
    const time = new FakeTime()
    const { ask, underWay } = laneAt(time)
    const asked = Array.from({ length: 603 }, () => ask())
    await time.flush()
    expect(asked[602]?.error).toMatchObject({ code: 'SAGA_TOO_MANY_READS' })
    expect(asked.filter(({ isSettled }) => isSettled)).toHaveLength(1)
    await time.advance(999)
    expect(asked.filter(({ isSettled }) => isSettled)).toHaveLength(1)
    await time.advance(20)
    expect(asked.filter(({ isSettled }) => isSettled)).toHaveLength(601)
    expect(underWay()).toBe(2)
  })

  it('leaves a place empty for three times as long as it was in use', async () => {
    const time = new FakeTime()
    const { ask, end, underWay } = laneAt(time, { ...BOUNDS, atOnceMax: 1 })
    ask()
    await time.advance(20)
    end()
    await time.flush()
    ask()
    await time.advance(59)
    expect(underWay()).toBe(0)
    await time.advance(1)
    expect(underWay()).toBe(1)
  })

  it('lets no place rest long after a read that took long', async () => {
    const time = new FakeTime()
    const { ask, end, underWay } = laneAt(time, { ...BOUNDS, atOnceMax: 1, waitMs: 5_000 })
    ask()
    ask()
    await time.advance(3_000)
    end()
    await time.advance(99)
    expect(underWay()).toBe(0)
    await time.advance(1)
    expect(underWay()).toBe(1)
  })

  it('S42: leaves places empty for as long as what was read will cost, several of them if that is long', async () => {
    const time = new FakeTime()
    const limiter = new ReadLimiter(time.clock(), { ...BOUNDS, atOnceMax: 2, waitMs: 5_000 })
    const read = (restMs: number) =>
      watched(
        limiter.run(
          async () => restMs,
          'reader',
          (value) => value,
        ),
      )
    read(1_500)
    await time.flush()
    const next = read(400)
    await time.advance(499)
    expect(next.isSettled).toBe(false)
    await time.advance(1)
    expect(next.isSettled).toBe(true)
    const third = read(0)
    await time.advance(399)
    expect(third.isSettled).toBe(false)
    await time.advance(1)
    expect(third.isSettled).toBe(true)
  })

  it('gives turns by caller, so that one with many reads keeps no other waiting', async () => {
    const time = new FakeTime()
    const { ask, end } = laneAt(time, { ...BOUNDS, atOnceMax: 1, restFactor: 0 })
    const flood = Array.from({ length: 500 }, () => ask('flood'))
    const others = [ask('other'), ask('third'), ask('other')]
    for (let ended = 0; ended < 6; ended += 1) {
      end()
      await time.flush()
    }
    expect(others.map(({ isSettled }) => isSettled)).toEqual([true, true, true])
    expect(flood.filter(({ isSettled }) => isSettled)).toHaveLength(3)
  })

  it('refuses the newest read of the caller that has the most waiting, and none of another, when too many wait', async () => {
    const time = new FakeTime()
    const { ask } = laneAt(time, { ...BOUNDS, atOnceMax: 1, waitingMax: 4 })
    const flood = Array.from({ length: 5 }, () => ask('flood'))
    const others = [ask('other'), ask('other'), ask('other')]
    await time.flush()
    expect(flood.map(({ error }) => error !== undefined)).toEqual([false, false, false, true, true])
    expect(others.map(({ error }) => error !== undefined)).toEqual([false, false, true])
  })

  it('S40: gives no caller more turns for asking for many things, and takes turns between these', async () => {
    const time = new FakeTime()
    const { ask, end } = laneAt(time, { ...BOUNDS, atOnceMax: 1, restFactor: 0 })
    const floods = ['a', 'b', 'c', 'd'].map((asked) =>
      Array.from({ length: 20 }, () => ask(toLane('flood', asked))),
    )
    const others = [ask('other'), ask(toLane('other', 'a')), ask('other')]
    // The first read of the flood is under way, and from then on every second turn is the other's.
    for (let ended = 0; ended < 7; ended += 1) {
      end()
      await time.flush()
    }
    expect(others.map(({ isSettled }) => isSettled)).toEqual([true, true, true])
    const settled = floods.map((flood) => flood.filter(({ isSettled }) => isSettled).length)
    expect(settled).toEqual([2, 1, 1, 0])
  })

  it('S40: refuses what a caller asks for most when it asks for something else, and too many wait', async () => {
    const time = new FakeTime()
    const { ask } = laneAt(time, { ...BOUNDS, atOnceMax: 1, waitingMax: 4 })
    const branches = Array.from({ length: 5 }, () => ask(toLane('flood', 'branch')))
    const abort = ask(toLane('flood', 'abort'))
    const other = ask('other')
    await time.flush()
    expect(branches.map(({ error }) => error !== undefined)).toEqual([false, false, false, true, true])
    expect([abort, other].map(({ error }) => error)).toEqual([undefined, undefined])
  })

  it('is free again after a read that failed', async () => {
    const time = new FakeTime()
    const limiter = new ReadLimiter(time.clock(), { ...BOUNDS, atOnceMax: 1, restFactor: 0 })
    const failed = watched(limiter.run(() => Promise.reject(new Error('no store'))))
    await time.flush()
    expect(failed.error).toMatchObject({ message: 'no store' })
    expect(await limiter.run(async () => 'read')).toBe('read')
  })
})

describe('S42: a reader of a large transaction', () => {
  for (const method of ['show', 'showWhole'] as const) {
    it(`leaves its place empty for what it costs: ${method}`, async () => {
      const fixture = new Fixture()
      const node = await fixture.node({ readsAtOnceMax: 1 })
      const { engine } = node
      const saga = buildSaga('large', 1)
      const branches = saga.branches.map((branch) => ({ ...branch, payload: 'x'.repeat(100_000) }))
      await node.submit({ ...saga, branches })
      await fixture.untilStatus('large', 'succeeded')
      await engine[method]('large' as Gid)
      const next = watched<unknown>(engine[method]('large' as Gid))
      await fixture.time.advance(200)
      expect(next.isSettled).toBe(false)
      await fixture.time.advance(100)
      expect(next.value).toMatchObject({})
    })
  }

  it('leaves its place empty for the size of the row also where the transaction runs here and has many branches', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ readsAtOnceMax: 1 })
    const payload = 'x'.repeat(50_000)
    const branches = Array.from({ length: 9 }, (_, n) => buildBranch('large', `b${n}`, { payload }))
    await node.submit({ gid: 'large', branches })
    await node.engine.show('large' as Gid)
    const next = watched(node.engine.show('large' as Gid))
    await fixture.time.advance(200)
    expect(next.isSettled).toBe(false)
    await fixture.time.advance(1_000)
    expect(next.value).toMatchObject({ gid: 'large' })
  })
})

describe('S42: readers of a small transaction that runs here', () => {
  it('take turns once its answers have made its view long', async () => {
    const fixture = new Fixture()
    const gate = new Gate()
    const answers = new Map<string, number>()
    // Answers that differ are kept beside each other.
    fixture.services.otherwise = async ({ branchId }): Promise<Answer> => {
      if (branchId === '01') await gate.pass()
      const answered = (answers.get(branchId) ?? 0) + 1
      answers.set(branchId, answered)
      return { result: 'unknown', statusCode: 500 + answered, excerpt: 'x'.repeat(200 * answered) }
    }
    const node = await fixture.node({ isShared: false })
    const retry = { initialMs: 10, factor: 1, capMs: 10, jitter: 0 }
    await node.submit(buildParallel('grows', 8, { retry }))
    const countShown = async () => {
      const asked = Array.from({ length: 100 }, () => watched(node.engine.show('grows' as Gid)))
      await fixture.time.flush()
      return asked.filter(({ value }) => value !== undefined).length
    }
    expect(await countShown()).toBe(100)
    await fixture.time.advance(500)
    expect(await countShown()).toBeLessThanOrEqual(16)
    gate.open()
  })
})

describe('an engine beside 600 readers', () => {
  /** Delays every list and every read of these gids. */
  async function nodeWithReaders(limiter: Partial<Record<'scansAtOnceMax' | 'readsAtOnceMax', number>> = {}) {
    const fixture = new Fixture()
    const node = await fixture.node(limiter)
    await node.submit(buildSaga('stored', 1))
    await fixture.untilStatus('stored', 'succeeded')
    const held: (() => void)[] = []
    let underWay = 0
    const { list, readMany } = node.store
    const hold = async () => {
      underWay++
      await new Promise<void>((resolve) => held.push(resolve))
    }
    node.store.list = async (query) => hold().then(() => list.call(node.store, query))
    node.store.readMany = async (gids) => {
      if (gids.includes('stored' as never)) await hold()
      return readMany.call(node.store, gids)
    }
    return { fixture, node, underWay: () => underWay }
  }

  const spellings = {
    'a list': (engine: Engine) => engine.list({ limit: 200, attention: true }),
    'a look at one transaction': (engine: Engine) => engine.show('stored' as never),
    'a look at one transaction and its definition': (engine: Engine) => engine.showWhole('stored' as never),
  }
  type Engine = Awaited<ReturnType<typeof nodeWithReaders>>['node']['engine']

  for (const [name, read] of Object.entries(spellings)) {
    it(`keeps all but a few of them from the store, and refuses the rest by code: ${name}`, async () => {
      const { fixture, node, underWay } = await nodeWithReaders()
      const asked = Array.from({ length: 600 }, () => watched<unknown>(read(node.engine)))
      await fixture.time.flush()
      expect(underWay()).toBeLessThanOrEqual(16)
      await node.submit(buildSaga('beside', 1))
      await fixture.untilStatus('beside', 'succeeded')
      await fixture.time.advance(2_100)
      const refused = asked.filter(({ error }) => error !== undefined)
      expect(refused.length).toBeGreaterThanOrEqual(600 - 16)
      for (const { error } of refused) expect(error).toMatchObject({ code: 'SAGA_TOO_MANY_READS' })
    })
  }

  it('keeps no command waiting that reads another transaction first', async () => {
    const { fixture, node } = await nodeWithReaders()
    await node.submit(buildSaga('beside', 1))
    await fixture.untilStatus('beside', 'succeeded')
    for (let n = 0; n < 600; n++) watched(node.engine.showWhole('stored' as never, 'key flood'))
    const commands = (['read', 'readWhole'] as const).map((read) =>
      watched<unknown>(node.engine[read]('beside' as never, 'key other')),
    )
    await fixture.time.flush()
    for (const { value } of commands) expect(value).toBeDefined()
  })

  it('keeps all but a few of them from a large transaction, whether it runs here or is stored', async () => {
    for (const untilStored of [false, true]) {
      const fixture = new Fixture()
      const node = await fixture.node()
      const payload = { note: 'y'.repeat(200_000) }
      await node.submit({
        gid: 'large',
        branches: Array.from({ length: 30 }, (_, n) => buildBranch('large', `b${n}`)),
      })
      await node.submit({ gid: 'heavy', branches: [buildBranch('heavy', 'b', { payload })] })
      if (untilStored) for (const gid of ['large', 'heavy']) await fixture.untilStatus(gid, 'succeeded')
      const gid = untilStored ? 'heavy' : 'large'
      const asked = Array.from({ length: 600 }, () => watched(node.engine.show(gid as never)))
      await fixture.time.advance(50)
      expect(asked.filter(({ value }) => value !== undefined)).toHaveLength(16)
    }
  })

  it('a command reads what it needs without a turn', async () => {
    const { fixture, node } = await nodeWithReaders({ readsAtOnceMax: 1 })
    node.engine.show('stored' as never).catch(() => undefined)
    await node.submit(buildSaga('other', 1))
    await fixture.untilStatus('other', 'succeeded')
    expect((await node.engine.get('other' as never))?.status).toBe('succeeded')
    await expect(node.engine.abort('other' as never)).rejects.toMatchObject({ code: 'SAGA_ALREADY_FINAL' })
  })

  it('mutant: without the limiter all of them are at the store at once', async () => {
    const { fixture, node, underWay } = await nodeWithReaders({ scansAtOnceMax: 10_000 })
    for (let n = 0; n < 600; n++) node.engine.list({ limit: 200, attention: true }).catch(() => undefined)
    await fixture.time.flush()
    expect(underWay()).toBe(600)
  })
})
