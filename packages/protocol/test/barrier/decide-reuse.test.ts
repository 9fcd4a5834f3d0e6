import { GID_REUSE_MARGIN_MS, OPS, type Op } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  type BarrierRow,
  computeRowInstants,
  decideQueryBack,
  decideReuse,
  isOfOtherTransaction,
} from '../../src/barrier/index.ts'

const ACCEPTED_AT = 1_790_000_000_000
const SINCE = computeRowInstants(ACCEPTED_AT, 0).since

/**
 * `other:action` is a row whose instant is a millisecond too early, and `action<compensate` a row whose reason is its
 * undo.
 */
function parseRow(text: string): BarrierRow {
  const isOther = text.startsWith('other:')
  const [op, reason = op] = text.replace('other:', '').split('<') as [Op, Op?]
  return { op, reason, createdAt: isOther ? SINCE - 1 : SINCE }
}

const ROWS: readonly (readonly [standing: string, op: Op, decision: string | undefined])[] = [
  ['', 'action', undefined],
  ['action', 'action', undefined],
  ['other:action', 'action', 'gid-reused'],
  ['other:action<compensate other:compensate', 'action', 'gid-reused'],
  ['other:action other:compensate', 'action', 'gid-reused'],
  ['action other:compensate', 'action', undefined],
  ['action compensate', 'compensate', undefined],
  ['other:action', 'compensate', 'nothing-to-undo'],
  ['other:action compensate', 'compensate', 'nothing-to-undo'],
  ['other:action other:compensate', 'compensate', 'nothing-to-undo'],
  ['other:action<compensate other:compensate', 'compensate', 'nothing-to-undo'],
  ['other:compensate', 'compensate', 'nothing-to-undo'],
  ['action<compensate other:compensate', 'compensate', 'nothing-to-undo'],
  ['action other:compensate', 'compensate', 'undo-in-the-way'],
  ['other:try', 'try', 'gid-reused'],
  ['other:try', 'cancel', 'nothing-to-undo'],
  ['other:try other:confirm', 'cancel', 'nothing-to-undo'],
  ['try other:cancel', 'cancel', 'undo-in-the-way'],
  ['other:try other:confirm', 'confirm', 'gid-reused'],
  ['other:try', 'confirm', undefined],
  ['other:msg', 'msg', 'gid-reused'],
  ['other:msg<rollback', 'msg', 'gid-reused'],
  ['msg<rollback', 'msg', undefined],
]

describe('the rows of an earlier transaction of the same gid', () => {
  for (const [standing, op, decision] of ROWS) {
    it(`A barrier decides ${decision ?? 'nothing special'} for the op ${op} with ${standing || 'no rows'}`, () => {
      const rows = standing.split(' ').filter(Boolean).map(parseRow)
      expect(decideReuse(op, rows, SINCE)).toBe(decision)
      expect(decideReuse(op, rows.reverse(), SINCE)).toBe(decision)
    })
  }

  it('Rows have the instant of their transaction, so that the clock of the service does not count', () => {
    for (const now of [0, ACCEPTED_AT, 2 * ACCEPTED_AT]) {
      const { at, since } = computeRowInstants(ACCEPTED_AT + 0.5, now)
      expect([at, since]).toEqual([ACCEPTED_AT, SINCE])
      expect(isOfOtherTransaction({ createdAt: at }, since)).toBe(false)
    }
    expect(computeRowInstants(undefined, ACCEPTED_AT)).toEqual({ at: ACCEPTED_AT, since: 0 })
  })

  it('A row is of another transaction if that was accepted more than the margin before', () => {
    const isOther = (createdAt: number) => isOfOtherTransaction({ createdAt }, SINCE)
    expect(GID_REUSE_MARGIN_MS).toBe(86_400_000)
    expect([
      isOther(ACCEPTED_AT - GID_REUSE_MARGIN_MS - 1),
      isOther(ACCEPTED_AT - GID_REUSE_MARGIN_MS),
    ]).toEqual([true, false])
  })

  it('An earlier transaction cannot be told without the instant of the call or of the row', () => {
    for (const op of OPS) {
      const rows = OPS.map((each) => ({ op: each, reason: each, createdAt: 0 }))
      expect(decideReuse(op, rows, computeRowInstants(undefined, ACCEPTED_AT).since)).toBeUndefined()
      const undated = OPS.map((each) => ({ op: each, reason: each }))
      expect(decideReuse(op, undated, SINCE)).toBeUndefined()
    }
  })

  it('A row of an earlier transaction is never taken for a message that has committed', () => {
    const asked = (row: string) => decideQueryBack({ inserted: false, standing: [parseRow(row)] }, SINCE)
    expect([asked('other:msg'), asked('other:msg<rollback'), asked('msg')]).toEqual([
      'rolled-back',
      'rolled-back',
      'committed',
    ])
  })
})
