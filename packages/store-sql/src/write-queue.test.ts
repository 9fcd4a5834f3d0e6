import { StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { asOutcomeUnknown, SqlError, type SqlFault, toStoreError } from './sql-error.ts'
import { type QueueBounds, type QueuedWrite, type WriteBatch, WriteQueue } from './write-queue.ts'

interface TestWrite extends QueuedWrite {
  readonly resolve: () => void
}

const BOUNDS: QueueBounds = {
  batchRowsMax: 3,
  batchBytesMax: 1_000_000,
  queueRowsMax: 1_000,
  queueBytesMax: 1_000_000,
  flushesInFlightMax: 1,
  flushPatienceMs: 10_000,
}

/** Writes 'a' to 'f', three in a flush, and returns the gid or the sign of each. */
async function collectOutcomes(
  writer: WriteBatch<TestWrite>,
  bounds: Partial<QueueBounds> = {},
): Promise<string> {
  const queue = new WriteQueue(writer, { ...BOUNDS, ...bounds })
  const writes = ['a', 'b', 'c', 'd', 'e', 'f'].map(
    (gid) =>
      new Promise<string>((resolve) => {
        const settle = { resolve: () => resolve(gid), reject: (error: unknown) => resolve(toSign(error)) }
        queue.add({ gid, length: 0, ...settle })
      }),
  )
  return (await Promise.all(writes)).join('')
}

/** Returns `-` when nothing was applied, and `?` when that is unknown. */
function toSign(error: unknown): string {
  return error instanceof StoreUnavailableError && error.applied === 'unknown' ? '?' : '-'
}

function failure(fault: SqlFault): Error {
  return toStoreError(new SqlError(fault, fault), false)
}

/** Makes the failure of a flush that may have been committed. */
function unknownFailure(fault: SqlFault): unknown {
  return asOutcomeUnknown(failure(fault))
}

function written(writes: readonly TestWrite[]) {
  return writes.map((write) => () => write.resolve())
}

function hasAny(writes: readonly TestWrite[], ...gids: readonly string[]): boolean {
  return writes.some(({ gid }) => gids.includes(gid))
}

describe('a failed flush', () => {
  const alone: readonly SqlFault[] = ['lock-wait', 'row']
  for (const fault of alone) {
    it(`A failed flush rejects only the row that failed: ${fault}`, async () => {
      const writer: WriteBatch<TestWrite> = async (writes) => {
        if (hasAny(writes, 'b')) throw failure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('a-cdef')
    })
  }

  it('No row is rejected when several rows stall together and none stalls alone', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (writes.length > 1 && hasAny(writes, 'b')) throw failure('stall')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('abcdef')
  })

  it('All waiting rows are rejected when a row stalls alone, since that is no queue of locks', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (hasAny(writes, 'b')) throw failure('stall')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('a-----')
  })

  it('A flush rejects its own rows and no waiting ones when the server takes no further connection', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (hasAny(writes, 'b')) throw failure('crowded')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('---def')
  })

  const gone: readonly SqlFault[] = ['lost', 'timeout', 'read-only', 'unavailable']
  for (const fault of gone) {
    it(`All waiting rows are rejected when the server has gone: ${fault}`, async () => {
      const writer: WriteBatch<TestWrite> = async (writes) => {
        if (hasAny(writes, 'b')) throw failure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('------')
    })
  }

  it('A flush rejects its own rows alone when another flush has been written meanwhile', async () => {
    let tellWritten: () => void = () => undefined
    const otherIsWritten = new Promise<void>((resolve) => {
      tellWritten = resolve
    })
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (hasAny(writes, 'a')) {
        await otherIsWritten
        throw failure('unavailable')
      }
      if (hasAny(writes, 'c')) setImmediate(tellWritten)
      return written(writes)
    }
    const bounds = { batchRowsMax: 2, flushesInFlightMax: 2, flushPatienceMs: 0 }
    expect(await collectOutcomes(writer, bounds)).toBe('--cdef')
  })

  it('A flush with an unknown outcome rejects only its own rows', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (hasAny(writes, 'b')) throw new StoreUnavailableError('lost during COMMIT', { applied: 'unknown' })
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('???def')
  })

  it('A flush rejects its own rows and no waiting ones when a connection was lost with its COMMIT', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (hasAny(writes, 'b')) throw unknownFailure('lost')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('???def')
  })

  for (const fault of ['timeout', 'unavailable'] as const) {
    it(`The waiting rows are rejected as unsent when the server has gone during a COMMIT: ${fault}`, async () => {
      const writer: WriteBatch<TestWrite> = async (writes) => {
        if (hasAny(writes, 'b')) throw unknownFailure(fault)
        return written(writes)
      }
      expect(await collectOutcomes(writer)).toBe('???---')
    })
  }

  it('The outcome of a row stays unknown after a stall at COMMIT, even if the row then certainly fails alone', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (writes.length > 1 && hasAny(writes, 'b')) throw unknownFailure('stall')
      if (hasAny(writes, 'b')) throw failure('lock-wait')
      return written(writes)
    }
    expect(await collectOutcomes(writer)).toBe('a?cdef')
  })

  it('The outcome of the other rows stays unknown when a row finds the server gone after a stall at COMMIT', async () => {
    const writer: WriteBatch<TestWrite> = async (writes) => {
      if (writes.length > 1) throw unknownFailure('stall')
      throw failure('unavailable')
    }
    expect(await collectOutcomes(writer)).toBe('???---')
  })
})
