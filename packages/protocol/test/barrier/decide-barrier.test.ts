import { OPS, type Op } from '@counterstep/protocol'
import {
  ALREADY_COMPENSATED,
  barrierRows,
  decideQueryBack,
  findOriginOp,
  findUndoOp,
  type LocalOutcome,
  mustRollBack,
} from '@counterstep/protocol/barrier'
import { describe, expect, it } from 'vitest'
import { MapBarrier } from './map-barrier.ts'

interface Row {
  /** These calls came before, in this order. `!` marks a business failure, which rolls its rows back. */
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
  { before: ['query'], arrives: 'msg', decision: 'already-compensated' },
  { before: ['msg', 'query'], arrives: 'msg', decision: 'duplicate' },
  { before: ['msg!', 'query'], arrives: 'msg', decision: 'already-compensated' },
  { before: ['query', 'msg', 'query'], arrives: 'msg', decision: 'already-compensated' },
]

function replay(before: readonly string[]): MapBarrier {
  const barrier = new MapBarrier()
  for (const step of before) {
    if (step === 'query') barrier.queryBack('branch')
    else barrier.arrive('branch', step.replace('!', '') as Op, !step.endsWith('!'))
  }
  return barrier
}

for (const [kind, rows] of Object.entries({ saga: SAGA, tcc: TCC, message: MESSAGE })) {
  describe(`the truth table of ${kind}`, () => {
    for (const { before, arrives, decision } of rows) {
      it(`A barrier decides ${decision} for the op ${arrives} after ${before.join(', ') || 'nothing'}`, () => {
        expect(replay(before).arrive('branch', arrives)).toBe(decision)
      })
    }
  })
}

describe('the truth table of the query-back', () => {
  const ROWS: readonly { readonly before: readonly string[]; readonly outcome: LocalOutcome }[] = [
    { before: [], outcome: 'rolled-back' },
    { before: ['msg'], outcome: 'committed' },
    { before: ['msg!'], outcome: 'rolled-back' },
    { before: ['query'], outcome: 'rolled-back' },
    { before: ['query', 'msg'], outcome: 'rolled-back' },
    { before: ['msg', 'query'], outcome: 'committed' },
    { before: ['msg!', 'msg'], outcome: 'committed' },
    { before: ['msg', 'msg'], outcome: 'committed' },
    { before: ['msg!', 'query', 'msg'], outcome: 'rolled-back' },
    { before: ['action'], outcome: 'rolled-back' },
  ]
  for (const { before, outcome } of ROWS) {
    it(`The query-back after ${before.join(', ') || 'nothing'} answers ${outcome}, and the same the next time`, () => {
      const barrier = replay(before)
      expect([barrier.queryBack('branch'), barrier.queryBack('branch')]).toEqual([outcome, outcome])
    })
  }

  it('The query-back is unknown when no row shows, though one stood in the way of the insert', () => {
    expect(decideQueryBack({ inserted: false, standing: [] })).toBe('unknown')
    expect(decideQueryBack({ inserted: false, standing: [{ op: 'action', reason: 'action' }] })).toBe(
      'unknown',
    )
  })

  it('The query-back says committed if and only if a local transaction took effect, for every sequence of five', () => {
    const STEPS = ['msg', 'msg!', 'query']
    function* sequences(length: number): Generator<string[]> {
      if (length === 0) yield []
      else for (const head of STEPS) for (const tail of sequences(length - 1)) yield [head, ...tail]
    }
    let seen = 0
    for (const sequence of sequences(5)) {
      const barrier = new MapBarrier()
      let effects = 0
      for (const step of sequence) {
        if (step === 'query') barrier.queryBack('branch')
        else if (barrier.arrive('branch', 'msg', step === 'msg') === 'run' && step === 'msg') effects++
      }
      expect(effects).toBe(barrier.queryBack('branch') === 'committed' ? 1 : 0)
      seen++
    }
    expect(seen).toBe(243)
  })

  it('A local transaction that finds its row rolls back, and no other op does', () => {
    for (const op of OPS) {
      expect(mustRollBack(op, 'run')).toBe(false)
      expect(mustRollBack(op, 'duplicate')).toBe(op === 'msg')
      expect(mustRollBack(op, 'already-compensated')).toBe(op === 'msg')
    }
  })
})

describe('the order of effects', () => {
  const OPS: readonly Op[] = ['action', 'compensate']

  function* sequences(length: number): Generator<Op[]> {
    if (length === 0) yield []
    else for (const head of OPS) for (const tail of sequences(length - 1)) yield [head, ...tail]
  }

  it('Each op runs at most once and never an action after its compensation, for every sequence of six', () => {
    let seen = 0
    for (const sequence of sequences(6)) {
      const barrier = new MapBarrier()
      const effects = sequence.filter((op) => barrier.arrive('branch', op) === 'run').join(' ')
      expect(['', 'action', 'action compensate']).toContain(effects)
      seen++
    }
    expect(seen).toBe(64)
  })

  it('The barrier keeps branches apart', () => {
    const barrier = new MapBarrier()
    barrier.arrive('one', 'compensate')
    expect(barrier.arrive('two', 'action')).toBe('run')
  })
})

describe('the rows of a driver', () => {
  it('A driver inserts the origin first, then the op itself, each with the op that caused it', () => {
    expect(barrierRows('compensate')).toEqual([
      { op: 'action', reason: 'compensate' },
      { op: 'compensate', reason: 'compensate' },
    ])
    expect(barrierRows('cancel')).toEqual([
      { op: 'try', reason: 'cancel' },
      { op: 'cancel', reason: 'cancel' },
    ])
  })

  it('A driver inserts one row for an op that undoes nothing', () => {
    for (const op of ['action', 'try', 'confirm', 'msg'] as const) {
      expect(barrierRows(op)).toEqual([{ op, reason: op }])
      expect(findOriginOp(op)).toBeUndefined()
    }
  })

  it('An op is undone by the op that names it as its origin', () => {
    const undone = OPS.map((op) => [op, OPS.find((other) => findOriginOp(other) === op)])
    expect(OPS.map((op) => [op, findUndoOp(op)])).toEqual(undone)
    expect([findUndoOp('action'), findUndoOp('try'), findUndoOp('confirm')]).toEqual([
      'compensate',
      'cancel',
      undefined,
    ])
  })

  it('A late action is answered with the code ALREADY_COMPENSATED', () => {
    expect(ALREADY_COMPENSATED).toBe('ALREADY_COMPENSATED')
  })
})
