import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { CommitInDoubt, repeatTransaction } from './repeat-transaction.ts'
import { SqlError, type SqlFault, toStoreError } from './sql-error.ts'

type Try = SqlFault | 'in doubt' | 'done'

interface Ran {
  readonly tries: number
  readonly repeats: number
  /** It is `done`, `no`, `unknown` or `bug`. */
  readonly end: string
}

/** Runs a transaction whose tries end so. The last one goes on forever. */
async function runTries(ends: readonly Try[], lockWaitRepeats = 1): Promise<Ran> {
  let [tries, repeats] = [0, 0]
  const once = async () => {
    const end = ends[Math.min(tries, ends.length - 1)] ?? 'done'
    tries += 1
    if (end === 'in doubt') throw new CommitInDoubt(new SqlError('lost', 'lost'))
    if (end !== 'done') throw new SqlError(end, end)
    return 'done'
  }
  const end = await repeatTransaction(once, {
    lockWaitRepeats,
    toStoreError: (error) => toStoreError(error, false),
    onRepeat: () => {
      repeats += 1
    },
  }).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) return error.applied
    if (error instanceof AssertionError) return 'bug'
    throw error
  })
  return { tries, repeats, end }
}

describe('a database transaction that is begun again', () => {
  const table: readonly (readonly [SqlFault, tries: number, end: string])[] = [
    ['repeat', 6, 'no'],
    ['crowded', 6, 'no'],
    ['lost', 3, 'no'],
    ['read-only', 2, 'no'],
    ['lock-wait', 2, 'no'],
    ['timeout', 1, 'no'],
    ['stall', 1, 'no'],
    ['unavailable', 1, 'no'],
    ['row', 1, 'bug'],
    ['duplicate', 1, 'bug'],
  ]
  for (const [fault, tries, end] of table) {
    it(`The fault ${fault} is met ${tries} times and then thrown`, async () => {
      expect(await runTries([fault])).toEqual({ tries, repeats: tries - 1, end })
    })
  }

  it('The result of the first try that succeeds is returned', async () => {
    expect(await runTries(['done'])).toEqual({ tries: 1, repeats: 0, end: 'done' })
    expect(await runTries(['repeat', 'lost', 'in doubt', 'done'])).toEqual({
      tries: 4,
      repeats: 3,
      end: 'done',
    })
  })

  it('A wait for a lock is repeated only as often as it is asked for', async () => {
    expect(await runTries(['lock-wait'], 0)).toMatchObject({ tries: 1, end: 'no' })
    expect(await runTries(['lock-wait'], 3)).toMatchObject({ tries: 4, end: 'no' })
  })

  it('Each kind of fault has its own number of repeats', async () => {
    const mixed: readonly Try[] = ['lost', 'repeat', 'lost', 'crowded', 'repeat', 'done']
    expect(await runTries(mixed)).toMatchObject({ tries: 6, end: 'done' })
    expect(await runTries(['lost', 'repeat', 'lost', 'repeat', 'lost', 'done'])).toMatchObject({
      tries: 5,
      end: 'no',
    })
  })
})

describe('a COMMIT whose outcome is unknown', () => {
  it('The outcome is unknown when no try has an answer', async () => {
    expect(await runTries(['in doubt'])).toEqual({ tries: 3, repeats: 2, end: 'unknown' })
  })

  for (const fault of ['lock-wait', 'unavailable', 'read-only', 'timeout', 'crowded', 'repeat'] as const) {
    it(`The outcome stays unknown when a later try has certainly failed: ${fault}`, async () => {
      expect(await runTries(['in doubt', fault])).toMatchObject({ end: 'unknown' })
    })
  }

  it('The cause of the failure is kept', async () => {
    const cause = new SqlError('timeout', 'no answer')
    const failed = repeatTransaction(() => Promise.reject(new CommitInDoubt(cause)), {
      lockWaitRepeats: 0,
      toStoreError: (error) => toStoreError(error, false),
      onRepeat: () => undefined,
    })
    await expect(failed).rejects.toMatchObject({ applied: 'unknown', cause })
  })

  it('An error that is none of the database is thrown as it is', async () => {
    const bug = new RangeError('a bug')
    const failed = repeatTransaction(() => Promise.reject(bug), {
      lockWaitRepeats: 0,
      toStoreError: (error) => toStoreError(error, false),
      onRepeat: () => undefined,
    })
    await expect(failed).rejects.toBe(bug)
  })
})
