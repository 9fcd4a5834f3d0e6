import { ALREADY_COMPENSATED, barrierRows, originOf, undoOf } from '@counterstep/barrier'
import { OPS, type Op } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { MapBarrier } from './map-barrier.ts'

interface Row {
  /** What came before, in order; `!` marks a business failure, which rolls its rows back. */
  readonly before: readonly string[]
  readonly arrives: Op
  readonly decision: string
}

const SAGA: readonly Row[] = [
  { before: [], arrives: 'action', decision: 'run' },
  { before: ['action'], arrives: 'action', decision: 'duplicate' },
  { before: ['action!'], arrives: 'action', decision: 'run' },
  { before: ['action!', 'compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['action', 'compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['action', 'compensate!'], arrives: 'action', decision: 'duplicate' },
  { before: ['compensate', 'action', 'action'], arrives: 'action', decision: 'already-compensated' },
  { before: [], arrives: 'compensate', decision: 'null-compensation' },
  { before: ['action!'], arrives: 'compensate', decision: 'null-compensation' },
  { before: ['action'], arrives: 'compensate', decision: 'run' },
  { before: ['action', 'compensate'], arrives: 'compensate', decision: 'duplicate' },
  { before: ['action', 'compensate!'], arrives: 'compensate', decision: 'run' },
  { before: ['compensate'], arrives: 'compensate', decision: 'duplicate' },
  { before: ['compensate', 'action'], arrives: 'compensate', decision: 'duplicate' },
]

const TCC: readonly Row[] = [
  { before: [], arrives: 'try', decision: 'run' },
  { before: ['try'], arrives: 'try', decision: 'duplicate' },
  { before: ['cancel'], arrives: 'try', decision: 'already-compensated' },
  { before: ['try', 'cancel'], arrives: 'try', decision: 'already-compensated' },
  { before: ['try', 'confirm'], arrives: 'try', decision: 'duplicate' },
  { before: [], arrives: 'cancel', decision: 'null-compensation' },
  { before: ['try'], arrives: 'cancel', decision: 'run' },
  { before: ['try', 'cancel'], arrives: 'cancel', decision: 'duplicate' },
  { before: ['cancel'], arrives: 'cancel', decision: 'duplicate' },
  { before: [], arrives: 'confirm', decision: 'run' },
  { before: ['try'], arrives: 'confirm', decision: 'run' },
  { before: ['try', 'confirm'], arrives: 'confirm', decision: 'duplicate' },
]

const MESSAGE: readonly Row[] = [
  { before: [], arrives: 'msg', decision: 'run' },
  { before: ['msg'], arrives: 'msg', decision: 'duplicate' },
  { before: ['msg!'], arrives: 'msg', decision: 'run' },
  { before: ['refused'], arrives: 'msg', decision: 'already-compensated' },
  { before: ['msg', 'refused'], arrives: 'msg', decision: 'duplicate' },
]

function replay(before: readonly string[]): MapBarrier {
  const barrier = new MapBarrier()
  for (const step of before) {
    if (step === 'refused') barrier.refuseMessage('branch')
    else barrier.arrive('branch', step.replace('!', '') as Op, !step.endsWith('!'))
  }
  return barrier
}

for (const [kind, rows] of Object.entries({ saga: SAGA, tcc: TCC, message: MESSAGE })) {
  describe(`the truth table of ${kind}`, () => {
    for (const { before, arrives, decision } of rows) {
      it(`${arrives} after ${before.join(', ') || 'nothing'}: ${decision}`, () => {
        expect(replay(before).arrive('branch', arrives)).toBe(decision)
      })
    }
  })
}

describe('the order of effects', () => {
  const OPS: readonly Op[] = ['action', 'compensate']

  function* sequences(length: number): Generator<Op[]> {
    if (length === 0) yield []
    else for (const head of OPS) for (const tail of sequences(length - 1)) yield [head, ...tail]
  }

  it('runs each op at most once and never an action after its compensation, for every sequence of six', () => {
    let seen = 0
    for (const sequence of sequences(6)) {
      const barrier = new MapBarrier()
      const effects = sequence.filter((op) => barrier.arrive('branch', op) === 'run').join(' ')
      expect(['', 'action', 'action compensate']).toContain(effects)
      seen++
    }
    expect(seen).toBe(64)
  })

  it('keeps branches apart', () => {
    const barrier = new MapBarrier()
    barrier.arrive('one', 'compensate')
    expect(barrier.arrive('two', 'action')).toBe('run')
  })
})

describe('what a driver inserts', () => {
  it('is the origin first, then the op itself, each with the op that caused it', () => {
    expect(barrierRows('compensate')).toEqual([
      { op: 'action', reason: 'compensate' },
      { op: 'compensate', reason: 'compensate' },
    ])
    expect(barrierRows('cancel')).toEqual([
      { op: 'try', reason: 'cancel' },
      { op: 'cancel', reason: 'cancel' },
    ])
  })

  it('is one row for an op that undoes nothing', () => {
    for (const op of ['action', 'try', 'confirm', 'msg'] as const) {
      expect(barrierRows(op)).toEqual([{ op, reason: op }])
      expect(originOf(op)).toBeUndefined()
    }
  })

  it('is undone by what names it as its origin', () => {
    const undone = OPS.map((op) => [op, OPS.find((other) => originOf(other) === op)])
    expect(OPS.map((op) => [op, undoOf(op)])).toEqual(undone)
    expect([undoOf('action'), undoOf('try'), undoOf('confirm')]).toEqual(['compensate', 'cancel', undefined])
  })

  it('names the code that a late action is answered with', () => {
    expect(ALREADY_COMPENSATED).toBe('ALREADY_COMPENSATED')
  })
})
