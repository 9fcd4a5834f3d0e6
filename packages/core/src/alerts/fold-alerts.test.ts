import { isAlertGid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ALERT_CASES_MAX,
  type AlertState,
  NO_ALERTS,
  readAlertState,
  writeAlertState,
} from './alert-state.ts'
import type { AlertFinding } from './find-alerts.ts'
import {
  type AlertSample,
  type AlertTargetRules,
  foldAlerts,
  queueAlert,
  queueDigests,
} from './fold-alerts.ts'
import { TARGET_HOUR_MAX } from './target-hours.ts'

const START = 1_700_000_000_000
const MINUTE = 60_000
const OPS: AlertTargetRules = {
  name: 'ops',
  rules: ['attention', 'failed', 'stuck', 'paused', 'store', 'bulk'],
}
const SAMPLES: readonly AlertSample[] = [
  { gid: 'order-1', name: 'transfer', tags: { region: 'eu' } },
  { gid: 'order-2', name: 'payout', tags: { region: 'us' } },
]
const hash = (text: string) => Buffer.from(text).toString('hex').slice(0, 16)

function attention(count: number, subject = 'bank-a compensate 500'): AlertFinding {
  return { rule: 'attention', subject, count, since: START - MINUTE, holdMs: 0 }
}

/** Looks at the given minutes, and says what was told at each. A look finds a count, or nothing. */
function look(looks: readonly (readonly [minute: number, count: number])[], finding = attention(0)) {
  let state = NO_ALERTS
  const told: string[] = []
  for (const [minute, count] of looks) {
    const now = START + minute * MINUTE
    const folded = foldAlerts(state, count === 0 ? [] : [{ ...finding, count }], now)
    state = folded.state
    for (const due of folded.due)
      told.push(
        `${minute}: ${due.state} ${due.count}${due.before === undefined ? '' : ` after ${due.before}`}`,
      )
  }
  return { told, state }
}

describe('what is told of one problem', () => {
  for (const [title, looks, ...told] of [
    ['it is told at once', [[0, 3]], '0: open 3'],
    [
      'it is told once',
      [
        [0, 3],
        [1, 3],
        [20, 4],
        [60, 5],
      ],
      '0: open 3',
    ],
    [
      'it is told again when it has grown tenfold',
      [
        [0, 3],
        [16, 29],
        [17, 30],
        [40, 200],
      ],
      '0: open 3',
      '17: grown 30 after 3',
    ],
    [
      'growth is measured from what was told last',
      [
        [0, 3],
        [16, 30],
        [40, 299],
        [41, 300],
      ],
      '0: open 3',
      '16: grown 30 after 3',
      '41: grown 300 after 30',
    ],
    [
      'growth within 15 minutes is told after them',
      [
        [0, 3],
        [1, 500],
        [14, 500],
        [15, 500],
      ],
      '0: open 3',
      '15: grown 500 after 3',
    ],
    [
      'its end is told after 2 minutes, and 15 after the last message',
      [
        [0, 3],
        [1, 0],
        [14, 0],
        [15, 0],
        [16, 0],
      ],
      '0: open 3',
      '15: over 3',
    ],
    [
      'its end is told after 2 minutes',
      [
        [0, 3],
        [20, 3],
        [21, 0],
        [22, 0],
        [23, 0],
      ],
      '0: open 3',
      '23: over 3',
    ],
    [
      'what comes back within 2 minutes was never over',
      [
        [0, 3],
        [20, 0],
        [21, 3],
        [22, 0],
        [23, 3],
        [40, 3],
      ],
      '0: open 3',
    ],
    [
      'what comes back after its end is new, but not within 15 minutes of a message',
      [
        [0, 3],
        [20, 0],
        [22, 0],
        [23, 3],
        [36, 3],
        [37, 4],
      ],
      '0: open 3',
      '22: over 3',
      '37: open 4',
    ],
    [
      'what comes back much later is new',
      [
        [0, 3],
        [20, 0],
        [22, 0],
        [60, 0],
        [61, 5],
      ],
      '0: open 3',
      '22: over 3',
      '61: open 5',
    ],
  ] as const satisfies readonly (readonly [string, readonly (readonly [number, number])[], ...string[]])[]) {
    it(title, () => expect(look(looks).told).toEqual(told))
  }

  it('what has to hold for 5 minutes is not told before, nor if it pauses', () => {
    const overdue = { rule: 'stuck', subject: 'overdue', count: 1, since: START, holdMs: 5 * MINUTE } as const
    expect(
      look(
        [
          [0, 1],
          [4, 1],
          [5, 1],
        ],
        overdue,
      ).told,
    ).toEqual(['5: open 1'])
    expect(
      look(
        [
          [0, 1],
          [4, 0],
          [5, 1],
          [9, 1],
          [10, 1],
        ],
        overdue,
      ).told,
    ).toEqual(['10: open 1'])
  })

  it('what has happened once has no end', () => {
    const event = { rule: 'store', subject: 'store-tail-lost', count: 1, since: START, holdMs: 0 } as const
    const { told, state } = look(
      [
        [0, 1],
        [60, 0],
        [63, 0],
        [64, 0],
        [90, 0],
      ],
      event,
    )
    expect(told).toEqual(['0: open 1'])
    expect(state.cases).toEqual([])
  })

  it('all that is over is forgotten in the end', () => {
    expect(
      look([
        [0, 3],
        [20, 0],
        [22, 0],
        [36, 0],
        [37, 0],
      ]).state.cases,
    ).toEqual([])
  })
})

/** Queues one alert after the other, a problem each, and says to whom. */
function queue(count: number, targets: readonly AlertTargetRules[], samples = SAMPLES, now = START) {
  let state: AlertState = NO_ALERTS
  const told: string[] = []
  for (let at = 0; at < count; at++) {
    const due = {
      rule: 'attention',
      state: 'open',
      problem: `bank-${at} action 500`,
      count: 1,
      since: now,
    } as const
    state = queueAlert({ ...state, pending: [] }, due, samples, targets, { now, hash, shownMax: 5 })
    told.push(...state.pending.flatMap((alert) => alert.targets))
  }
  return { state, told }
}

describe('who is told', () => {
  for (const [title, target, isTold] of [
    ['a target of the rule', {}, true],
    ['no target of other rules', { rules: ['store'] }, false],
    ['a target of the name of a sample', { names: ['payout'] }, true],
    ['no target of other names', { names: ['refund'] }, false],
    ['a target of the tags of a sample', { tags: { region: 'us' } }, true],
    ['no target of other tags', { tags: { region: 'asia' } }, false],
    ['no target of tags of which no sample has all', { tags: { region: 'eu', tier: '1' } }, false],
  ] as const satisfies readonly (readonly [string, Partial<AlertTargetRules>, boolean])[]) {
    it(title, () => expect(queue(1, [{ ...OPS, ...target }]).told).toEqual(isTold ? ['ops'] : []))
  }

  it('a filter says nothing about an alert that is about no transaction', () => {
    expect(queue(1, [{ ...OPS, names: ['refund'], tags: { region: 'asia' } }], []).told).toEqual(['ops'])
  })

  it('the end is told to those who know of the beginning', () => {
    const targets = [
      OPS,
      { ...OPS, name: 'payouts', names: ['payout'] },
      { ...OPS, name: 'refunds', names: ['refund'] },
    ]
    const told: (readonly string[])[] = []
    let state = NO_ALERTS
    for (const [minute, count] of [
      [0, 3],
      [20, 0],
      [22, 0],
    ] as const) {
      const now = START + minute * MINUTE
      const folded = foldAlerts(state, count === 0 ? [] : [attention(count)], now)
      state = { ...folded.state, pending: [] }
      for (const due of folded.due)
        state = queueAlert(state, due, count === 0 ? [] : SAMPLES, targets, { now, hash, shownMax: 5 })
      told.push(...state.pending.map((alert) => alert.targets))
    }
    expect(told).toEqual([
      ['ops', 'payouts'],
      ['ops', 'payouts'],
    ])
  })

  it('who was told of the beginning knows of the growth, though its samples are of others', () => {
    const targets = [OPS, { ...OPS, name: 'payouts', names: ['payout'] }]
    const options = { now: START, hash, shownMax: 5 }
    const [due] = foldAlerts(NO_ALERTS, [attention(3)], START).due
    if (due === undefined) throw new Error('nothing is due')
    const { state: begun } = look([[0, 3]])
    const opened = queueAlert(begun, due, SAMPLES, targets, options)
    const grown = { ...due, state: 'grown', before: 3 } as const
    const { cases, pending } = queueAlert(opened, grown, SAMPLES.slice(0, 1), targets, options)
    expect([cases, pending.at(-1)?.targets]).toEqual([opened.cases, ['ops']])
  })

  it('one message has a branch for each target, and a gid that every node makes alike', () => {
    const { state } = queue(1, [OPS, { ...OPS, name: 'slack' }])
    expect(state.pending).toEqual([
      {
        rule: 'attention',
        state: 'open',
        problem: 'bank-0 action 500',
        count: 1,
        since: START,
        names: ['transfer', 'payout'],
        sampleGids: ['order-1', 'order-2'],
        gid: `alert-attention-${hash('bank-0 action 500')}-${Math.floor(START / (15 * MINUTE))}`,
        targets: ['ops', 'slack'],
        decidedAt: START,
      },
    ])
    // No submit may take it first.
    expect(state.pending.every(({ gid }) => isAlertGid(gid))).toBe(true)
  })

  it('a target gets 20 messages in an hour, the last of which says how many were held back', () => {
    const { state, told } = queue(200, [OPS])
    expect(told).toHaveLength(TARGET_HOUR_MAX - 1)
    expect(queueDigests(state, START + 60 * MINUTE - 1, hash).pending).toEqual(state.pending)
    const ended = queueDigests({ ...state, pending: [] }, START + 60 * MINUTE, hash)
    expect(ended.pending).toEqual([
      expect.objectContaining({
        rule: 'digest',
        count: 200 - TARGET_HOUR_MAX + 1,
        targets: ['ops'],
        since: START,
      }),
    ])
    expect(ended.hours).toEqual([])
  })

  it('an hour in which nothing was held back ends without a message', () => {
    const { state } = queue(3, [OPS])
    expect(queueDigests({ ...state, pending: [] }, START + 60 * MINUTE, hash)).toMatchObject({
      pending: [],
      hours: [],
    })
  })
})

describe('the document of alerts', () => {
  const many = Array.from({ length: 3 * ALERT_CASES_MAX }, (_, at) =>
    attention(at + 1, `bank-${at} ${'x'.repeat(240)}`),
  )

  it('is read as it was written', () => {
    const { state } = look([
      [0, 3],
      [1, 0],
    ])
    expect(readAlertState(writeAlertState(state))).toEqual(state)
  })

  it('is left alone if newer code has written it', () => {
    expect(readAlertState('{"format":2}')).toBeUndefined()
  })

  it('has room for as many cases as are watched, and watches those of the greatest counts', () => {
    let { state } = foldAlerts(NO_ALERTS, many, START)
    for (let minute = 1; minute < 40; minute++)
      state = foldAlerts({ ...state, pending: [] }, many, START + minute * MINUTE).state
    expect(state.cases).toHaveLength(ALERT_CASES_MAX)
    expect(Math.min(...state.cases.map(({ toldCount }) => toldCount))).toBe(2 * ALERT_CASES_MAX + 1)
    expect(readAlertState(writeAlertState(state))).toEqual(state)
  })

  it('what is known goes before what is new, so that nothing seems to be over for lack of room', () => {
    const { state } = foldAlerts(NO_ALERTS, [attention(1)], START)
    const later = foldAlerts(state, [...many, attention(1)], START + 20 * MINUTE).state
    const known = later.cases.find(({ subject }) => subject === 'bank-a compensate 500')
    expect(known).toMatchObject({ stage: 'open' })
    expect(known).not.toHaveProperty('quietSince')
  })

  it('forgets the smallest counts where the texts are too long for a document', () => {
    const long = many
      .slice(0, ALERT_CASES_MAX)
      .map((each) => ({ ...each, subject: each.subject.replaceAll('x', '→') }))
    let state = NO_ALERTS
    for (let minute = 0; minute < 20; minute++)
      state = foldAlerts({ ...state, pending: [] }, long, START + minute * MINUTE).state
    const kept = readAlertState(writeAlertState(state))?.cases ?? []
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(ALERT_CASES_MAX)
    expect(Math.max(...kept.map(({ toldCount }) => toldCount))).toBe(ALERT_CASES_MAX)
  })
})
