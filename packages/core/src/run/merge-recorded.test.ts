import { describe, expect, it } from 'vitest'
import {
  answering,
  buildRecorded,
  CHECK_AT,
  END,
  END_FAILED,
  folded,
  RETRY_NOW,
  report,
  STOP,
  sending,
} from '../../test/prepared.ts'
import { CREATED_AT, RETRY } from '../../test/sagas.ts'
import { mergeRecorded } from './merge-recorded.ts'

const NOW = CREATED_AT + 5_000
const fresh = buildRecorded()
const called = folded(fresh, [sending([CHECK_AT, 'msg'])], NOW)

describe('our state of a recorded workflow, merged with the row of another node', () => {
  it('The records of both stay, those of the row first', () => {
    const { records } = mergeRecorded(folded(fresh, [report(0)]), folded(fresh, [report(1)]))
    expect(records.map(({ branchId }) => branchId)).toEqual(['02', '01'])
  })

  it('A record of the row counts before ours of the same name', () => {
    const { records } = mergeRecorded(
      folded(fresh, [report(0, { data: 'ours' })]),
      folded(fresh, [report(0, { data: 'theirs' })]),
    )
    expect(records.map(({ data }) => data)).toEqual(['theirs'])
  })

  it('A record that we did not know puts our callback off, but not one that is under way', () => {
    const stored = folded(fresh, [report(0)], NOW)
    const waiting = folded(called, [answering(CHECK_AT, 'msg', 'ongoing')], CREATED_AT)
    expect(mergeRecorded(waiting, stored).check).toMatchObject({
      state: 'waiting',
      attempts: 1,
      nextAt: NOW + RETRY.initialMs,
    })
    expect(mergeRecorded(fresh, stored).check.nextAt).toBe(NOW + RETRY.initialMs)
    expect(mergeRecorded(called, stored).check).toMatchObject({
      state: 'calling',
      nextAt: NOW + RETRY.initialMs,
    })
  })

  it('A record that we did not know is a sign of life here, too', () => {
    const failing: typeof called = {
      ...folded(called, [answering(CHECK_AT, 'msg', 'unknown')], CREATED_AT),
      attention: 'the callback failed 10 times',
    }
    const merged = mergeRecorded(failing, folded(fresh, [report(0)], NOW))
    expect(merged).toMatchObject({ check: { failures: 0, waits: 0 }, updatedAt: NOW })
    expect(merged.attention).toBeUndefined()
    expect(merged.check.failingSince).toBeUndefined()
    expect(mergeRecorded(failing, fresh)).toMatchObject({
      attention: failing.attention,
      check: failing.check,
    })
  })

  it('A report after a retry puts our callback off all the same', () => {
    const waiting = folded(called, [answering(CHECK_AT, 'msg', 'ongoing')], CREATED_AT)
    const merged = mergeRecorded(waiting, folded(waiting, [RETRY_NOW, report(0)], NOW))
    expect(merged).toMatchObject({ manualRetries: 1, check: { nextAt: NOW + RETRY.initialMs } })
  })

  it('Our end stays on top of the records of the row', () => {
    for (const end of [END, END_FAILED, STOP]) {
      const ours = folded(called, [end], NOW)
      const merged = mergeRecorded(ours, folded(fresh, [report(0)], NOW))
      expect(merged).toMatchObject({ status: ours.status, records: [{ branchId: '01' }] })
    }
  })

  it('A retry on another node makes our callback due', () => {
    const waiting = folded(called, [answering(CHECK_AT, 'msg', 'ongoing')], NOW)
    const merged = mergeRecorded(waiting, folded(waiting, [RETRY_NOW], NOW))
    expect(merged.check.nextAt).toBeUndefined()
    expect(merged.manualRetries).toBe(1)
  })
})
