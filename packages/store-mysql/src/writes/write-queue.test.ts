import { type CreateResult, StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { asOutcomeUnknown, SqlError, type SqlFault } from '../sessions/server-errors.ts'
import { toStoreError } from '../transactions/database-transactions.ts'
import type { PendingWrite } from './pending-writes.ts'
import { type QueueBounds, type WriteBatch, WriteQueue } from './write-queue.ts'

const BOUNDS: QueueBounds = {
  batchRowsMax: 3,
  batchBytesMax: 1_000_000,
  queueRowsMax: 1_000,
  queueBytesMax: 1_000_000,
  flushesInFlightMax: 1,
  flushPatienceMs: 10_000,
}
const CREATED: CreateResult = { type: 'created', createdAt: 1, now: 1 }

/** Writes 'a' to 'f', three in a flush, and returns the gid or the sign of each. */
async function collectOutcomes(writer: WriteBatch, bounds: Partial<QueueBounds> = {}): Promise<string> {
  const queue = new WriteQueue(writer, { ...BOUNDS, ...bounds })
  const writes = ['a', 'b', 'c', 'd', 'e', 'f'].map(
    (gid) =>
      new Promise<string>((resolve) => {
        const settle = { resolve: () => resolve(gid), reject: (error: unknown) => resolve(toSign(error)) }
        queue.add({ type: 'create', gid, token: '', writeId: '', sql: '', length: 0, ...settle })
      }),
  )
  return (await Promise.all(writes)).join('')
}

/** `-` when nothing was applied, `?` when that is unknown. */
function toSign(error: unknown): string {
  return error instanceof StoreUnavailableError && error.applied === 'unknown' ? '?' : '-'
}

function failure(fault: SqlFault): Error {
  return toStoreError(new SqlError(fault, fault))
}

/** The failure of a flush that may have been committed. */
function unknownFailure(fault: SqlFault): unknown {
  return asOutcomeUnknown(failure(fault))
}

function written(writes: readonly PendingWrite[]) {
  return writes.map(
    (write) => () => (write.type === 'create' ? write.resolve(CREATED) : write.reject(new Error(''))),
  )
}

function holds(writes: readonly PendingWrite[], ...gids: readonly string[]): boolean {
  return writes.some(({ gid }) => gids.includes(gid))
}

describe('what a failed flush takes with it', () => {
  const alone: readonly SqlFault[] = ['lock-wait', 'row']
  for (const fault of alone) {
    it(`is the row that has met it: ${fault}`, async () => {
      const writer: WriteBatch = async (writes) => {
        if (holds(writes, 'b')) throw failure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('a-cdef')
    })
  }

  it('is nobody when several rows together stall and each alone does not', async () => {
    const writer: WriteBatch = async (writes) => {
      if (writes.length > 1 && holds(writes, 'b')) throw failure('stall')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('abcdef')
  })

  it('is all that waits when a row stalls alone: that is no queue of locks', async () => {
    const writer: WriteBatch = async (writes) => {
      if (holds(writes, 'b')) throw failure('stall')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('a-----')
  })

  it('is its rows, and not those that wait, when the server takes no further connection', async () => {
    const writer: WriteBatch = async (writes) => {
      if (holds(writes, 'b')) throw failure('crowded')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('---def')
  })

  const gone: readonly SqlFault[] = ['lost', 'timeout', 'read-only', 'unavailable']
  for (const fault of gone) {
    it(`is all that waits when the server has gone: ${fault}`, async () => {
      const writer: WriteBatch = async (writes) => {
        if (holds(writes, 'b')) throw failure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('------')
    })
  }

  it('is its rows alone when another flush has been written meanwhile', async () => {
    let tellWritten: () => void = () => undefined
    const otherIsWritten = new Promise<void>((resolve) => {
      tellWritten = resolve
    })
    const writer: WriteBatch = async (writes) => {
      if (holds(writes, 'a')) {
        await otherIsWritten
        throw failure('unavailable')
      }
      if (holds(writes, 'c')) setImmediate(tellWritten)
      return written(writes)
    }
    const bounds = { batchRowsMax: 2, flushesInFlightMax: 2, flushPatienceMs: 0 }
    expect(await collectOutcomes(writer, bounds)).toBe('--cdef')
  })

  it('is its rows when its outcome is unknown', async () => {
    const writer: WriteBatch = async (writes) => {
      if (holds(writes, 'b')) throw new StoreUnavailableError('lost during COMMIT', { applied: 'unknown' })
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('???def')
  })

  it('is its rows, and not those that wait, when a connection was lost with its COMMIT', async () => {
    const writer: WriteBatch = async (writes) => {
      if (holds(writes, 'b')) throw unknownFailure('lost')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('???def')
  })

  for (const fault of ['timeout', 'unavailable'] as const) {
    it(`is all that waits when the server has gone, of which nothing was sent: ${fault}`, async () => {
      const writer: WriteBatch = async (writes) => {
        if (holds(writes, 'b')) throw unknownFailure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('???---')
    })
  }

  it('is unknown also for a row that certainly fails alone, after a stall whose outcome is unknown', async () => {
    const writer: WriteBatch = async (writes) => {
      if (writes.length > 1 && holds(writes, 'b')) throw unknownFailure('stall')
      if (holds(writes, 'b')) throw failure('lock-wait')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('a?cdef')
  })

  it('is unknown for those behind a row that has found the server gone, after such a stall', async () => {
    const writer: WriteBatch = async (writes) => {
      if (writes.length > 1) throw unknownFailure('stall')
      throw failure('unavailable')
    }
    expect(await collectOutcomes(writer)).toBe('???---')
  })
})
