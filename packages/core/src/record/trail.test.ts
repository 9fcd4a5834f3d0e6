import { describe, expect, it } from 'vitest'
import { abort, edit, givenAs, pause, resume, retry, retryOp, stop } from '../../test/operator.ts'
import { refuse } from '../../test/refuse.ts'
import { after, buildRow, parallel } from '../../test/sagas.ts'
import type { StoredEntry, Transaction } from '../transaction.ts'
import { decodeTransaction, toFormat } from './record.ts'
import { findNewEntries, TRAIL_FULL_ENTRIES, uniteTrails } from './trail.ts'
import { viewTransaction } from './view.ts'

/** Fills a trail by pauses and resumes, of which a resume is the last. */
function fill(entries: number): Transaction {
  const commands = Array.from({ length: entries }, (_, place) =>
    (entries - place) % 2 === 1 ? resume(`r${place}`) : pause(`p${place}`),
  )
  return after(parallel(2), commands)
}

const full = fill(TRAIL_FULL_ENTRIES)

function entry(id: string, change: Partial<StoredEntry> = {}): StoredEntry {
  return { id, at: 1, by: { via: 'local' }, command: 'pause', from: 'submitted', ...change }
}

describe('the trail', () => {
  it('Retries of one caller in a row are one entry with a count', () => {
    const other = givenAs('c', { by: { via: 'console', person: 'kim' } })
    const retried = after(parallel(2), [
      retry('a'),
      retry('b'),
      { ...retry(), given: other },
      retry('d'),
      retryOp('01', 'action', 'e'),
      retryOp('01', 'action', 'f'),
      retryOp('02', 'action', 'g'),
    ])
    expect(retried.trail?.map(({ id, count = 1 }) => `${id} ${count}`)).toEqual([
      'b 2',
      'c 1',
      'd 1',
      'f 2',
      'g 1',
    ])
    expect(retried.manualRetries).toBe(4)
  })

  it('A pause that takes the last place of a full one can be ended, and so can what waits for a person', () => {
    const paused = after(fill(TRAIL_FULL_ENTRIES - 1), [pause('last')])
    expect(paused.paused).toBeDefined()
    expect(refuse(paused, pause('x'))).toBe('trail-full')
    expect(refuse(paused, resume('x'))).toBeUndefined()
    const aborted = after(paused, [resume('x'), abort('y')])
    expect(aborted.paused).toBeUndefined()
    expect(aborted.status).toBe('aborting')
    expect(refuse(after(paused, [resume('x')]), edit('01', 'action', { timeoutMs: 1 }))).toBeUndefined()
  })

  it('A full one refuses a pause alone, and drops nothing', () => {
    expect(full.trail).toHaveLength(TRAIL_FULL_ENTRIES)
    const retried = after(full, [
      retry('x'),
      retryOp('01', 'action', 'y'),
      retry('z', { by: { via: 'dtm' } }),
    ])
    expect(retried.trail?.slice(0, TRAIL_FULL_ENTRIES)).toEqual(full.trail)
    expect(retried.trail?.slice(TRAIL_FULL_ENTRIES)).toMatchObject([
      { id: 'z', count: 2, by: { via: 'dtm' } },
      { id: 'y' },
    ])
    const stopped = after(retried, [stop()])
    expect(stopped.trail?.at(-1)).toMatchObject({ command: 'stop' })
    const edits = Array.from({ length: 20 }, (_, at) =>
      edit('01', 'action', { timeoutMs: at + 1 }, { id: `e${at}` }),
    )
    const edited = after(full, [resume('a'), ...edits, resume('b')])
    expect(edited.trail?.slice(TRAIL_FULL_ENTRIES)).toMatchObject([
      { id: 'b', command: 'resume', count: 2 },
      { id: 'e19', command: 'edit', count: 20 },
    ])
    expect(TRAIL_FULL_ENTRIES).toBe(64)
  })

  it('is read back from the record as it was, under the format that older code leaves alone', () => {
    const edited = after(parallel(2), [
      pause('p', 2_000_000),
      retry('a'),
      edit('01', 'action', {
        url: 'http://other.test/',
        retry: { initialMs: 1, factor: 1, capMs: 1, jitter: 0, limit: 1 },
      }),
    ])
    expect(toFormat(edited)).toBe(5)
    expect(decodeTransaction(buildRow(edited))).toEqual(edited)
    expect(toFormat(parallel(2))).toBe(1)
  })

  it('is shown without the ids of merged retries', () => {
    const view = viewTransaction(after(parallel(1), [retry('a'), retry('b')]), 'submitted')
    expect(view.trail).toMatchObject([{ id: 'b', count: 2 }])
    expect(view.trail?.[0]).not.toHaveProperty('also')
  })

  for (const [what, progress] of Object.entries({
    'an entry without an id': { trail: [{ ...entry('a'), id: 1 }] },
    'an empty trail': { trail: [] },
    'a pause without a trail': { paused: { at: 1, by: { via: 'local' } } },
    'a pause that is none': { trail: [entry('a')], paused: { at: 'now', by: {} } },
    'an edit that is none': { trail: [entry('a')], edits: [{ branch: '01', op: 'action' }] },
    'an edit without a trail': { edits: [] },
    'an op by no hand': { trail: [entry('a')], b: [{ a: { state: 'succeeded', byHand: { at: 1 } } }] },
  }))
    it(`A record with ${what} is not read`, () => {
      expect(() => decodeTransaction(buildRow(parallel(1), { progress: JSON.stringify(progress) }))).toThrow(
        /is not|are not/,
      )
    })
})

describe('two trails', () => {
  it('The stored entries come first, and each entry stands once', () => {
    const united = uniteTrails([entry('a'), entry('b')], [entry('a'), entry('c')])
    expect(united.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  it('An entry that was merged on both sides counts each retry once', () => {
    const ours = entry('b', { command: 'retry', also: ['a'], count: 2 })
    const stored = entry('c', { command: 'retry', also: ['a'], count: 2 })
    expect(uniteTrails([stored], [ours])).toMatchObject([{ id: 'b', also: ['a', 'c'], count: 3 }])
    expect(findNewEntries([stored], [ours])).toEqual([stored])
    expect(findNewEntries([stored], [stored])).toEqual([])
  })
})
