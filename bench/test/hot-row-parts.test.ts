import { describe, expect, it } from 'vitest'
import { runCallers } from '../src/scenarios/hot-row/run-callers.ts'
import type { Serve } from '../src/scenarios/hot-row/serve-hot-row.ts'
import { callerCounts } from '../src/scenarios/hot-row.ts'
import { mysqlDurabilityClass } from '../src/stores/mysql-durability.ts'

const length = { type: 'time', warmUpSeconds: 0, seconds: 0.05 } as const

/** Serves from one set in memory; each call takes a turn of the event loop. */
function serveInMemory(answerAgain: 'ran' | 'duplicate'): Serve {
  const seen = new Set<string>()
  return async ({ call }) => {
    const isFirst = !seen.has(call.gid)
    seen.add(call.gid)
    await new Promise((resolve) => setImmediate(resolve))
    return isFirst ? 'ran' : answerAgain
  }
}

describe('the callers of a hot row', () => {
  it('A call that is sent twice is counted as one that ran and one duplicate', async () => {
    const job = { way: 'plain', callers: 3, length, twiceShare: 1 } as const
    const result = await runCallers(job, serveInMemory('duplicate'))
    expect(result.ran).toBeGreaterThan(0)
    expect(result).toMatchObject({ duplicates: result.ran, sentTwice: result.ran, refused: 0 })
  })

  it('No call is sent twice where the share of such calls is 0', async () => {
    const job = { way: 'update', callers: 3, length, twiceShare: 0 } as const
    const result = await runCallers(job, serveInMemory('ran'))
    expect(result.ran).toBeGreaterThan(0)
    expect(result).toMatchObject({ duplicates: 0, sentTwice: 0 })
  })

  it('The first call is sent twice however small the share is, and later ones as often as the share says', async () => {
    const job = { way: 'plain', callers: 1, length, twiceShare: 0.25 } as const
    const { ran, duplicates, sentTwice } = await runCallers(job, serveInMemory('duplicate'))
    expect(sentTwice).toBe(Math.ceil(ran / 4))
    expect(duplicates).toBe(sentTwice)
  })

  it('A run of the callers fails when a call that was sent twice ran twice', async () => {
    const job = { way: 'plain', callers: 1, length, twiceShare: 1 } as const
    await expect(runCallers(job, serveInMemory('ran'))).rejects.toThrow('answered ran, ran')
  })

  it('A run of the callers fails when neither call of a pair ran', async () => {
    const job = { way: 'plain', callers: 1, length, twiceShare: 1 } as const
    await expect(runCallers(job, async () => 'duplicate')).rejects.toThrow('answered duplicate, duplicate')
  })

  it('The second call of a pair may run when the first was refused', async () => {
    let calls = 0
    const job = { way: 'plain', callers: 1, length, twiceShare: 1 } as const
    const result = await runCallers(job, async () => {
      calls += 1
      const answer = calls % 2 === 1 ? 'refused' : 'ran'
      await new Promise((resolve) => setImmediate(resolve))
      return answer
    })
    expect(result.ran).toBe(result.refused)
    expect(result.ran).toBeGreaterThan(0)
  })
})

describe('numbers of callers', () => {
  it.each([
    [1, [1]],
    [10, [1, 2, 4, 8, 10]],
    [64, [1, 2, 4, 8, 16, 32, 64]],
  ])('The numbers of callers up to %d are %j', (max, counts) => expect(callerCounts(max)).toEqual(counts))
})

describe('the durability class of a MySQL', () => {
  it.each([
    ['1', 'ON', '1', 'A'],
    ['1', 'OFF', '0', 'A'],
    ['1', 'ON', '0', 'B'],
    ['2', 'ON', '1', 'B'],
    ['0', 'ON', '1', 'C'],
  ])('A MySQL with flush %s, log %s and sync %s has durability class %s', (flush, log, sync, expected) => {
    const settings = { innodb_flush_log_at_trx_commit: flush, log_bin: log, sync_binlog: sync }
    expect(mysqlDurabilityClass(settings)).toBe(expected)
  })
})
