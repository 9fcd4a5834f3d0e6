import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type GroupBounds, GroupQueue } from '../../src/grouped/group-queue.ts'
import { GroupRolledBack } from '../../src/grouped/group-rolled-back.ts'
import { serveGroup, type WaitingCall } from '../../src/grouped/serve-group.ts'
import { BranchFailure } from '../../src/index.ts'

const BOUNDS: GroupBounds = { groupMax: 4, queueMax: 6, lingerMs: 0, timeoutMs: 10_000 }

function newCall(gid: string, settled: Map<string, unknown>): WaitingCall {
  const key = { gid, branchId: '01', barrierId: '01' }
  const call = { gid, branchId: '01', op: 'action' } as const
  return {
    admitted: { call, key, op: 'action', at: 0, branch: gid },
    entry: () => gid,
    waitingSince: performance.now(),
    settle: (outcome) => settled.set(gid, outcome.decision),
    reject: (error) => settled.set(gid, error),
  }
}

const gidsOf = (calls: readonly WaitingCall[]): string =>
  calls.map(({ admitted }) => admitted.key.gid).join('')

describe('the queue of a grouped branch', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A queue whose groups commit when `finish` is called. */
  const queued = (bounds: Partial<GroupBounds> = {}) => {
    const groups: string[] = []
    const settled = new Map<string, unknown>()
    let idle = 0
    let finish = (): void => undefined
    const serve = (group: readonly WaitingCall[]): Promise<void> => {
      groups.push(gidsOf(group))
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

  it('makes one group of what one turn brings, and the next of what comes while that commits', async () => {
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

  it('makes no group larger than groupMax', async () => {
    const { groups, add, pass, finished } = queued()
    add('abcdef')
    await pass(0)
    await finished()
    expect(groups).toEqual(['abcd', 'ef'])
  })

  it('refuses a call when queueMax others wait, and takes calls again when a group has begun', async () => {
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

  it('waits lingerMs for others, and no longer when the group is full', async () => {
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

  it('refuses those whose group has not begun in time: their callers have gone', async () => {
    const { settled, groups, add, pass, finished } = queued()
    add('a')
    await pass(0)
    add('b')
    await pass(6_000)
    add('c')
    await pass(6_000)
    await finished()
    expect(settled.get('b')).toMatchObject({ code: 'BARRIER_TIMED_OUT', meaning: 'unavailable' })
    expect(groups).toEqual(['a', 'c'])
  })
})

describe('taking a group apart', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const calls = (gids: string, settled: Map<string, unknown>) => [...gids].map((gid) => newCall(gid, settled))

  it('ends after 5 s, and then calls nobody a failure who was in company', async () => {
    vi.useFakeTimers()
    const settled = new Map<string, unknown>()
    const runs: string[] = []
    const failure = new BranchFailure('no')
    const door = {
      admit: () => {
        throw new Error('unused')
      },
      run: async (group: readonly unknown[]) => {
        runs.push(gidsOf(group as readonly WaitingCall[]))
        await vi.advanceTimersByTimeAsync(2_000)
        throw new GroupRolledBack(failure)
      },
    }
    await serveGroup(door, () => [], calls('abcdefgh', settled))
    expect(runs).toEqual(['abcdefgh', 'abcd', 'ab', 'cd', 'efgh'])
    expect(settled.size).toBe(8)
    for (const error of settled.values())
      expect(error).toMatchObject({ code: 'BRANCH_ERROR', cause: failure })
  })

  it('gives all of a group the error of a database that fails, and does not try in parts', async () => {
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
    await serveGroup(door, () => [], calls('abcd', settled))
    expect([runs, [...settled.values()]]).toEqual([1, [gone, gone, gone, gone]])
  })
})
