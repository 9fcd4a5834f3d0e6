import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GroupBarrier, GroupPass } from '../../src/grouped/group-barrier.ts'
import { type GroupBounds, GroupQueue } from '../../src/grouped/group-queue.ts'
import { GroupRolledBack } from '../../src/grouped/group-rolled-back.ts'
import { asLockedOut } from '../../src/grouped/lock-wait.ts'
import { serveGroup, type WaitingCall } from '../../src/grouped/serve-group.ts'
import { BranchFailure } from '../../src/index.ts'

const BOUNDS: GroupBounds = { groupMax: 4, queueMax: 6, lingerMs: 0, timeoutMs: 10_000 }

function newCall(gid: string, settled: Map<string, unknown>): WaitingCall {
  const key = { gid, branchId: '01', barrierId: '01' }
  const call = { gid, branchId: '01', op: 'action' } as const
  return {
    admitted: { call, key, op: 'action', at: 0, since: 0, branch: gid },
    entry: () => gid,
    waitingSince: performance.now(),
    settle: (outcome) => settled.set(gid, outcome.decision),
    reject: (error) => settled.set(gid, error),
  }
}

const listGids = (calls: readonly WaitingCall[]): string =>
  calls.map(({ admitted }) => admitted.key.gid).join('')

describe('the queue of a grouped branch', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Makes a queue whose groups commit when `finish` is called. */
  const queued = (bounds: Partial<GroupBounds> = {}) => {
    const groups: string[] = []
    const settled = new Map<string, unknown>()
    let idle = 0
    let finish = (): void => undefined
    const serve = (group: readonly WaitingCall[]): Promise<void> => {
      groups.push(listGids(group))
      return new Promise((resolve) => {
        finish = () => {
          for (const call of group) call.settle({ decision: 'run' })
          resolve()
        }
      })
    }
    const queue = new GroupQueue(serve, { ...BOUNDS, ...bounds }, () => idle++)
    const add = (gids: string): void => {
      for (const gid of gids) queue.add(newCall(gid, settled))
    }
    const finished = async (): Promise<void> => {
      finish()
      await vi.advanceTimersByTimeAsync(0)
    }
    const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
    return { groups, settled, add, pass, finished, idle: () => idle }
  }

  it('The calls of one turn make one group, and those that come while it commits make the next', async () => {
    const { groups, add, pass, finished, idle } = queued()
    add('ab')
    await pass(0)
    add('c')
    await pass(1_000)
    add('d')
    expect(groups).toEqual(['ab'])
    await finished()
    expect([groups, idle()]).toEqual([['ab', 'cd'], 0])
    await finished()
    expect([groups, idle()]).toEqual([['ab', 'cd'], 1])
    add('e')
    await pass(0)
    expect(groups).toEqual(['ab', 'cd', 'e'])
  })

  it('No group is larger than groupMax', async () => {
    const { groups, add, pass, finished } = queued()
    add('abcdef')
    await pass(0)
    await finished()
    expect(groups).toEqual(['abcd', 'ef'])
  })

  it('A call is refused when queueMax others wait, and calls are taken again when a group has begun', async () => {
    const { settled, groups, add, pass, finished } = queued()
    add('a')
    await pass(0)
    add('bcdefgh')
    expect(settled.get('h')).toMatchObject({
      code: 'BRANCH_QUEUE_FULL',
      statusCode: 503,
      meaning: 'unavailable',
    })
    expect(settled.has('g')).toBe(false)
    await finished()
    add('i')
    await finished()
    expect(groups).toEqual(['a', 'bcde', 'fgi'])
  })

  it('A group waits lingerMs for others, and no longer when it is full', async () => {
    const { groups, add, pass, finished } = queued({ lingerMs: 5 })
    add('a')
    await pass(4)
    add('b')
    expect(groups).toEqual([])
    await pass(1)
    expect(groups).toEqual(['ab'])
    add('cd')
    await finished()
    await pass(2)
    add('ef')
    await pass(0)
    expect(groups).toEqual(['ab', 'cdef'])
  })

  it('A call whose group has not begun in time is refused, because its caller has gone', async () => {
    const { settled, groups, add, pass, finished } = queued()
    add('aa')
    await pass(0)
    add('b')
    await pass(6_000)
    add('c')
    await pass(6_000)
    await finished()
    expect(settled.get('b')).toMatchObject({ code: 'BARRIER_TIMED_OUT', meaning: 'unavailable' })
    expect(groups).toEqual(['aa', 'c'])
  })

  it('The queue goes on after 1 s beside a call that is alone, but not beside a group', async () => {
    const { groups, add, pass, finished } = queued()
    add('a')
    await pass(0)
    add('bc')
    await pass(999)
    expect(groups).toEqual(['a'])
    await pass(1)
    await pass(1)
    expect(groups).toEqual(['a', 'bc'])
    add('d')
    await pass(3_000)
    expect(groups).toEqual(['a', 'bc'])
    await finished()
    expect(groups).toEqual(['a', 'bc', 'd'])
  })
})

describe('taking a group apart', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const makeBarrier = (groupRunner: GroupBarrier<unknown>['groupRunner']): GroupBarrier<unknown> => ({
    groupRunner,
    run: () => Promise.reject(new Error('of a group of several')),
  })
  const calls = (gids: string, settled: Map<string, unknown>) => [...gids].map((gid) => newCall(gid, settled))

  it('Taking a group apart ends after 5 s, and no call that shared a part is then answered as a failure', async () => {
    vi.useFakeTimers()
    const settled = new Map<string, unknown>()
    const runs: string[] = []
    const failure = new BranchFailure('no')
    const door = {
      admit: () => {
        throw new Error('unused')
      },
      run: async (group: readonly unknown[]) => {
        runs.push(listGids(group as readonly WaitingCall[]))
        await vi.advanceTimersByTimeAsync(2_000)
        throw new GroupRolledBack(failure)
      },
    }
    await serveGroup(makeBarrier(door), () => [], calls('abcdefgh', settled))
    expect(runs).toEqual(['abcdefgh', 'abcd', 'ab'])
    expect(settled.size).toBe(8)
    for (const error of settled.values())
      expect(error).toMatchObject({ code: 'BRANCH_ERROR', cause: failure })
  })

  it('Calls that are locked out of a group of 256 are found in three levels, with four parts under way at once', async () => {
    const settled = new Map<string, unknown>()
    const cause = new Error('lock wait')
    const locked = new Set(['3', '77', '200', '255'])
    let under = 0
    let underMax = 0
    const sizes: number[] = []
    const door = {
      admit: () => {
        throw new Error('unused')
      },
      run: async (group: readonly GroupPass[]) => {
        sizes.push(group.length)
        underMax = Math.max(underMax, ++under)
        await new Promise((resolve) => setImmediate(resolve))
        under--
        if (group.some(({ admitted }) => locked.has(admitted.key.gid))) throw asLockedOut(cause)
        return group.map(() => ({ outcome: { decision: 'run' } }) as const)
      },
    }
    const gids = Array.from({ length: 256 }, (_, number) => String(number))
    await serveGroup(
      makeBarrier(door),
      () => [],
      gids.map((gid) => newCall(gid, settled)),
    )
    for (const gid of gids) {
      if (locked.has(gid)) expect(settled.get(gid)).toMatchObject({ code: 'BARRIER_CONTENDED', cause })
      else expect(settled.get(gid)).toBe('run')
    }
    expect([new Set(sizes), sizes.length, underMax]).toEqual([new Set([256, 16, 1]), 1 + 16 + 4 * 16, 4])
  })

  it('An error of the database is given to all calls of a group, which is not tried in parts', async () => {
    const settled = new Map<string, unknown>()
    const gone = new Error('connect ECONNREFUSED')
    let runs = 0
    const door = {
      admit: () => {
        throw new Error('unused')
      },
      run: () => {
        runs++
        return Promise.reject(gone)
      },
    }
    await serveGroup(makeBarrier(door), () => [], calls('abcd', settled))
    expect([runs, [...settled.values()]]).toEqual([1, [gone, gone, gone, gone]])
  })
})
