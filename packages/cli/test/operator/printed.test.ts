import { GID_LENGTH_MAX, type OverviewView, type TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { cleanJson, cleanLine, cleanText } from '../../src/operator/print/clean-text.ts'
import { writeNames, writeOverview } from '../../src/operator/print/write-figures.ts'
import { writeList } from '../../src/operator/print/write-list.ts'
import { writePanel } from '../../src/operator/print/write-panel.ts'
import { writePlan } from '../../src/operator/print/write-plan.ts'
import { writeTransaction } from '../../src/operator/print/write-transaction.ts'
import { writeWaterfall } from '../../src/operator/print/write-waterfall.ts'
import { NOW } from './run-line.ts'
import { PLAN, PLANNED, STUCK } from './views.ts'

/** It could move the cursor, and colour, hide or turn a text. */
const HOSTILE = '\u001b[2J\u001b]0;x\u0007\u009b31m\u202egpj.\u200b\u2066\r\n\tend'

describe('texts of a server', () => {
  it('No harmful character is printed, and no text begins a line of its own', () => {
    expect(cleanLine(HOSTILE)).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u)
    expect(cleanText('a\nb\u001b')).toBe('a\nb\u{fffd}')
    expect(cleanLine('ordinary – ✓ ünïcode 日本')).toBe('ordinary – ✓ ünïcode 日本')
  })

  it('JSON stays the same value, with escapes for what is harmful', () => {
    const value = { [HOSTILE]: [HOSTILE, '"\\', 'ü'] }
    for (const indent of [0, 2]) {
      const text = cleanJson(value, indent)
      expect(JSON.parse(text)).toEqual(value)
      expect(text.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u)
    }
  })

  it('Every text of a transaction may be hostile, and each stays within its line', () => {
    const spoil = (value: unknown): unknown => {
      if (typeof value === 'string') return `${value}${HOSTILE}`
      if (Array.isArray(value)) return value.map(spoil)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoil(each)]))
    }
    // A hostile server keeps to no type.
    const view = spoil(STUCK) as TransactionView
    const plan = spoil(PLAN) as typeof PLAN
    const lines = [
      ...writeTransaction(view, NOW, 100),
      ...writePlan(plan, { gid: HOSTILE, command: 'abort' }, NOW),
      ...writeList([spoil({ ...SUMMARY }) as typeof SUMMARY], NOW),
    ]
    for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]*$/u)
  })
})

const SUMMARY = {
  gid: 'order-4711',
  kind: 'saga',
  status: 'aborting',
  createdAt: NOW - 3_600_000,
  updatedAt: NOW,
  dueAt: NOW + 41_000,
  epoch: 3,
  retrying: true,
  attention: true,
  name: 'transfer',
  problem: 'bank-a compensate 500',
  attempts: 52,
  tags: { region: 'eu' },
} as const

it('A row is no wider for a gid that no server gives, and a gid is whole', () => {
  const gid = 'g'.repeat(GID_LENGTH_MAX)
  const rows = ['x'.repeat(1_000_000), gid].map((each) => ({ ...SUMMARY, gid: each }))
  const lines = writeList(rows, NOW)
  for (const line of lines) expect(line.length).toBeLessThan(500)
  expect(lines[2]?.startsWith(`${gid} `)).toBe(true)
})

describe('what is printed', () => {
  it('A list shows what a row waits for, and leaves out columns that are empty', () => {
    expect(writeList([SUMMARY], NOW)).toEqual([
      'GID         NAME      KIND  STATUS      MARKS                        PROBLEM                ATTEMPTS     NEXT  ACCEPTED  TAGS',
      'order-4711  transfer  saga  ◀ aborting  ⚠ needs a person ↻ retrying  bank-a compensate 500        52  in 41 s   1 h ago  region:eu',
    ])
    const { name: _, problem: __, attempts: ___, tags: ____, ...plain } = SUMMARY
    const parked = { ...plain, paused: true, attention: false, dueAt: 8.64e15 } as const
    expect(writeList([parked], NOW)[0]).toBe('GID         KIND  STATUS      MARKS                ACCEPTED')
  })

  it('A transaction says why it waits, when each call ran, and who commanded what', () => {
    const text = writeTransaction(STUCK, NOW, 110).join('\n')
    expect(text).toContain('order-4711  saga  transfer  ◀ aborting  ⚠ needs a person  region:eu tier:2')
    expect(text).toContain('accepted  2026-11-24T02:01:12.000Z (1 h ago)')
    expect(text).toMatch(
      /WHY {2}bank-a answers 500 to the compensation of debit since .*attempt 52: “lock wait timeout”/,
    )
    expect(text).toContain('because credit refused: “account frozen”')
    expect(text).toContain('Next attempt in 41 s.')
    expect(text).toContain('\nURL  bank-a:/debit-undo\n')
    expect(text).toContain('DO   The service runs and fails: its own log has the reason.')
    expect(text).toMatch(/kim \(key ops\) +retry-op debit\.compensate ×2 +bank-a is restarted/)
  })

  it('A waterfall keeps within its width, with the undo below what it undoes, and the wait folded', () => {
    for (const width of [60, 100, 160]) {
      const lines = writeWaterfall(STUCK, NOW, width)
      for (const line of lines.slice(0, -1)) expect([...line].length, line).toBeLessThanOrEqual(width)
      expect(lines.slice(1, -1).map((line) => line.slice(0, 6).trimEnd())).toEqual([
        'debit',
        '  undo',
        'credit',
        '  undo',
      ])
      expect(lines[2]).toMatch(/▓.*500, attempt 52, next in 41 s$/)
      expect(lines[1]).toMatch(/█.*30 ms ✓$/)
      expect(lines[3]).toMatch(/▒.*40 ms ✗ 409$/)
      expect(lines[1]).toContain('┊')
    }
  })

  it('A wait that went on without its signal is told from one that has ended by it', () => {
    const op = {
      op: 'action',
      state: 'succeeded',
      attempts: 0,
      startedAt: NOW - 90,
      endedAt: NOW - 50,
    } as const
    const draw = (error?: string) => {
      const own = error === undefined ? op : { ...op, error }
      const [branch] = STUCK.branches
      if (branch === undefined) throw new Error('it has no branch')
      return writeWaterfall({ ...STUCK, branches: [{ ...branch, ops: [own] }] }, NOW, 100)[1]
    }
    expect(draw('signal-timeout')).toMatch(/✓ no signal came$/)
    expect(draw()).toMatch(/█ +✓$/)
  })

  it('A workflow says what its code is, why it is not planned on, and which plan its steps stand above', () => {
    const lines = writeTransaction(PLANNED, NOW, 100)
    expect(lines[0]).toBe('order-4713  workflow  ▶ submitted  ⚠ needs a person')
    expect(lines).toContain(
      'code      order, version 1, plan 3: 3 of 1000 steps, 2 KiB of 1 MiB in its journal',
    )
    const text = lines.join('\n')
    expect(text).toContain(
      'WHY  The handler of order refuses with WORKFLOW_CHANGED, because its code asks for something else than is recorded',
    )
    expect(text).toContain('attempt 2: “charge was a call, and is a step”.')
    expect(text).toContain('Next attempt in 50 s. Nothing is undone because of it.')
    expect(text).toContain('\nURL  shop:/workflows\n')
    const drawn = lines.slice(
      lines.findIndex((line) => line.startsWith('reserve')),
      -1,
    )
    expect(drawn.map((line) => line.split(' ', 1)[0])).toEqual(['reserve', 'quote', 'charge', 'plan'])
    expect(drawn[0]).toMatch(/█.*100 ms ✓$/)
    expect(drawn[1]).toMatch(/^quote [ ┊]+✓$/)
    expect(drawn[3]).toMatch(/^plan 3 .*▓.*WORKFLOW_CHANGED, attempt 2/)
  })

  it('The largest transaction is drawn, one line for each call that was made', () => {
    const [debit] = STUCK.branches
    if (debit === undefined) throw new Error('there is no branch')
    const branches = Array.from({ length: 100 }, (_, at) => ({ ...debit, id: `branch-${at}` }))
    expect(writeWaterfall({ ...STUCK, branches }, NOW, 100)).toHaveLength(202)
    expect(writeWaterfall({ ...STUCK, branches: [] }, NOW, 100)).toEqual(['It has no branches yet.'])
  })

  it('A panel is printed with its instants, and what is missing is a dash', () => {
    const panel = { id: 'keys', title: 'API keys', asOf: NOW, more: 2 }
    const columns = [
      { title: 'name', type: 'text' },
      { title: 'expires', type: 'instant' },
    ] as const
    const rows = [
      ['ops', 'never'],
      ['app', NOW],
      [null, null],
    ]
    expect(writePanel({ ...panel, columns, rows })).toEqual([
      'NAME  EXPIRES',
      'ops   never',
      `app   ${new Date(NOW).toISOString()}`,
      '–     –',
      'There are 2 more.',
    ])
    expect(writePanel({ ...panel, columns, rows: [] })).toEqual(['API keys has no rows.'])
  })

  it('The figures of a name are those of all its minutes', () => {
    const minute = { at: NOW, accepted: 4, succeeded: 3, failed: 1, stopped: 0 }
    const latency = { count: 4, p50Ms: 10, p95Ms: 20, p99Ms: 30 }
    const items = [{ name: 'transfer', minutes: [minute, minute], latency }]
    expect(writeNames({ asOf: NOW, since: NOW, nodes: 1, items }).slice(0, 2)).toEqual([
      'NAME      ACCEPTED  SUCCEEDED  FAILED  STOPPED    P50    P95    P99',
      'transfer         8          6       2        0  10 ms  20 ms  30 ms',
    ])
  })

  it('An overview has no tick while calls are made again, and names the problems with the most', () => {
    const latency = { count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 }
    const overview: OverviewView = {
      ...{ asOf: NOW, since: NOW, attention: 0, paused: 0, byHand: 0, latency, nodes: [], minutes: [] },
      store: { name: 'sqlite', durabilityClass: 'A', failover: 'none', state: 'up', asOf: NOW },
      unfinished: { prepared: 0, submitted: 18, aborting: 0 },
      ...{ slowestNames: [], mostFailedNames: [], worstServices: [], refusedSubmits: [] },
    }
    const rows = [12, 3, 2, 1].map((waiting, at) => ({
      ...{ problem: `bank-${at} action 404`, waiting, attention: 0, oldestAt: NOW },
    }))
    expect(writeOverview(overview, [], NOW)[1]).toBe(
      'consistent? ✓ nothing needs a person, 0 paused, 0 by hand',
    )
    expect(writeOverview(overview, rows, NOW).slice(1, 6)).toEqual([
      'consistent? nothing needs a person yet, ↻ 18 retrying, 0 paused, 0 by hand',
      '            ↻ 12 of bank-0 action 404',
      '            ↻ 3 of bank-1 action 404',
      '            ↻ 2 of bank-2 action 404',
      '            and 1 more: counterstep problems',
    ])
  })

  it('A plan says what will be called, what cannot be undone, and how it ends', () => {
    expect(writePlan(PLAN, { gid: 'order-4720', command: 'abort' }, NOW)).toEqual([
      'What abort of order-4720 does, by its record of 2026-11-24T03:01:09.000Z (3.0 s ago):',
      '  1  compensate credit            may have run  ledger:/credit-undo',
      '  2  compensate debit             has run       bank-a:/debit-undo',
      '  –  mail cannot be undone: it has no compensation',
      '  It will wait for ledger, which gave no usable answer to the last attempt.',
      '  It ends as failed once every call has succeeded.',
    ])
    const edit = { gid: 'a', command: 'edit', isConfirmed: true } as const
    const needs = ['confirm'] as const
    const fields = {
      url: 'bank-a:/undo?key=secret',
      payload: { pin: 'secret' },
      headers: { 'x-a': 'secret' },
    } as const
    const changes = { op: { branchId: 'debit', op: 'compensate' }, fields } as const
    const lines = writePlan({ ...PLAN, needs }, { ...edit, changes }, NOW)
    expect(lines.slice(1, 4)).toEqual([
      '  It changes of debit.compensate: url bank-a:/debit-undo → bank-a:/undo?…, payload, headers x-a',
      '  1  compensate credit            may have run  ledger:/credit-undo',
      '  2  compensate debit             has run       bank-a:/undo?…',
    ])
    expect(lines.join()).not.toMatch(/--confirm|secret/)
    expect(writePlan({ ...PLAN, needs }, { ...edit, isConfirmed: false }, NOW).join()).toContain('--confirm')
    const refusal = { code: 'SAGA_ALREADY_FINAL', detail: 'it has succeeded' }
    const refused = writePlan({ ...PLAN, exact: false, refusal }, { gid: 'a', command: 'abort' }, NOW)
    expect(refused[0]).toContain('another node runs it')
    expect(refused[1]).toBe('  It would be refused: it has succeeded (SAGA_ALREADY_FINAL)')
  })
})
