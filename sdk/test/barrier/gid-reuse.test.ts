import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { buildLocalCall } from '../../src/barrier/message-barrier.ts'
import { migrateBarrier, type SqliteBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { conditionalAdd, sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import { answerQueryBack } from '../../src/http/answer-query-back.ts'
import { answerBranch, type Branch, withBarrier } from '../../src/index.ts'
import { suiteClock } from './suite-clock.ts'

const DAY_MS = 24 * 3_600_000
const GID = 'order-4711'

interface Called {
  readonly kind?: 'saga' | 'tcc' | 'msg'
  readonly op: string
  readonly cents: number
}

/** Opens a bank that has served a transaction of this gid eight days ago; the orchestrator has forgotten it meanwhile. */
function bank({ isGrouped = false, isMutant = false } = {}) {
  const database = new DatabaseSync(':memory:')
  database.exec(
    "CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER); INSERT INTO account VALUES ('a', 10000)",
  )
  migrateBarrier(database)
  const plain: SqliteBarrier<DatabaseSync> = sqliteBarrier(database, suiteClock)
  const grouped = groupedBranch(sqliteGroupBarrier(database, suiteClock), {
    key: () => 'one',
    apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
  })
  const toDelta = ({ op, payload }: Branch<number>) => (op === 'action' || op === 'try' ? -payload : payload)
  const call = async (agoMs: number, { kind = 'saga', op, cents }: Called) => {
    const branchId = op === 'msg' ? '00' : '01'
    const headers = {
      'counterstep-gid': GID,
      'counterstep-branch-id': branchId,
      'counterstep-op': op,
      'counterstep-kind': kind === 'msg' ? 'message' : kind,
      // The mutant is the barrier of before: it does not know when the call's transaction was accepted.
      ...(isMutant ? {} : { 'counterstep-accepted-at': String(Date.now() - agoMs) }),
    }
    const url = `/debit?gid=${GID}&trans_type=${kind}&branch_id=${branchId}&op=${op}`
    suiteClock.behindMs = agoMs
    const request = { url, headers, payload: cents }
    try {
      if (op === 'msg') return (await answerQueryBack(plain, request)).answer
      if (isGrouped) {
        const add = (_: unknown, branch: Branch<number>) => ({ id: 'a', delta: toDelta(branch) })
        return (await answerBranch(grouped, add, request)).answer
      }
      const debit = (tx: DatabaseSync, branch: Branch<number>) => {
        tx.prepare('UPDATE account SET cents = cents + ?').run(toDelta(branch))
      }
      return (await answerBranch(plain, debit, request)).answer
    } finally {
      suiteClock.behindMs = 0
    }
  }
  return {
    plain,
    earlier: (called: Called) => call(8 * DAY_MS, called),
    later: (called: Called) => call(0, called),
    cents: () => Number(Object.values(database.prepare('SELECT cents FROM account').get() ?? {})[0]),
  }
}

const readCode = ({ body }: { readonly body?: string | undefined }) =>
  (JSON.parse(body ?? '{}') as { code?: string }).code

describe('S20: the same gid, submitted anew when the orchestrator has forgotten the first', () => {
  for (const isGrouped of [false, true]) {
    it(`A reused gid undoes nothing of a finished saga${isGrouped ? ' behind a grouped branch' : ''}`, async () => {
      const { earlier, later, cents } = bank({ isGrouped })
      await earlier({ op: 'action', cents: 500 })
      const refused = await later({ op: 'action', cents: 9_000 })
      expect([refused.statusCode, readCode(refused)]).toEqual([409, 'GID_REUSED'])
      expect((await later({ op: 'compensate', cents: 9_000 })).statusCode).toBe(200)
      expect((await later({ op: 'compensate', cents: 9_000 })).statusCode).toBe(200)
      expect(cents()).toBe(9_500)
    })
  }

  it('A reused gid cancels nothing of a confirmed TCC, and its confirm is not answered as done', async () => {
    const { earlier, later, cents } = bank()
    await earlier({ kind: 'tcc', op: 'try', cents: 500 })
    await earlier({ kind: 'tcc', op: 'confirm', cents: 0 })
    const confirmed = await later({ kind: 'tcc', op: 'confirm', cents: 9_000 })
    expect([confirmed.statusCode, readCode(confirmed)]).toEqual([409, 'GID_REUSED'])
    expect((await later({ kind: 'tcc', op: 'cancel', cents: 9_000 })).statusCode).toBe(200)
    expect(cents()).toBe(9_500)
  })

  it('A reused gid delivers no message whose local transaction has not committed', async () => {
    const { plain, later } = bank()
    suiteClock.behindMs = 8 * DAY_MS
    await withBarrier(plain, buildLocalCall(GID, { acceptedAt: suiteClock.now() }), () => undefined)
    suiteClock.behindMs = 0
    expect((await later({ kind: 'msg', op: 'msg', cents: 0 })).statusCode).toBe(409)
  })

  it('Mutant: a barrier that does not compare the instants undoes what another transaction has paid', async () => {
    for (const isGrouped of [false, true]) {
      const { earlier, later, cents } = bank({ isGrouped, isMutant: true })
      await earlier({ op: 'action', cents: 500 })
      expect((await later({ op: 'action', cents: 9_000 })).statusCode).toBe(200)
      await later({ op: 'compensate', cents: 9_000 })
      expect(cents()).toBe(18_500)
    }
  })
})
