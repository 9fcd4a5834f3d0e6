import type { Op } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import * as operator from '../../test/operator.ts'
import {
  ABORT,
  answering,
  buildMessage,
  buildPlainMessage,
  buildTcc,
  folded,
  SUBMIT,
  sending,
} from '../../test/prepared.ts'
import { refuse } from '../../test/refuse.ts'
import { after, answered, CREATED_AT, parallel, sent, serial } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import { table } from '../../test/table.ts'
import { transition } from '../../test/transition.ts'
import { isFinal, type SagaTransaction, type Transaction } from '../transaction.ts'
import { buildRequest } from '../values/build-request.ts'
import type { GivenCommand } from './events.ts'

const ACTION = 'action'
const COMPENSATE = 'compensate'
/** The second branch of each transaction is the one that the commands are about. */
const firstDone = after(serial(2), [sent([0, ACTION]), answered(0, ACTION, 'success')])
const aborted = after(parallel(2), [
  sent([0, ACTION], [1, ACTION]),
  answered(1, ACTION, 'unknown'),
  answered(0, ACTION, 'failure'),
])
const listed = after(serial(2), [sent([0, ACTION]), answered(0, ACTION, 'failure')])
const byHand = after(firstDone, [operator.skip('02', ACTION, 'hand')])
const confirming = folded(buildTcc(2), [SUBMIT])
const cancelling = folded(buildTcc(2), [ABORT])
const delivering = folded(buildMessage(2), [SUBMIT])
const waitingSaga = startSaga({
  branches: [
    { id: '01', action: 'http://bank.test/a' },
    { id: '02', wait: { signal: 'go' } },
  ],
})
const open = after(waitingSaga, [sent([0, ACTION]), answered(0, ACTION, 'success'), { type: 'time' }])

interface Standing {
  readonly transaction: Transaction
  readonly op: Op
}

const STANDINGS: Readonly<Record<string, Standing>> = {
  'saga action not reached': { transaction: serial(2), op: ACTION },
  'saga action idle': { transaction: firstDone, op: ACTION },
  'saga action calling': { transaction: after(firstDone, [sent([1, ACTION])]), op: ACTION },
  'saga action waiting': {
    transaction: after(firstDone, [sent([1, ACTION]), answered(1, ACTION, 'unknown')]),
    op: ACTION,
  },
  'saga action succeeded': {
    transaction: after(parallel(3), [sent([1, ACTION]), answered(1, ACTION, 'success')]),
    op: ACTION,
  },
  'saga action open': { transaction: open, op: ACTION },
  'saga action given up': { transaction: aborted, op: ACTION },
  'saga undo not decided': { transaction: firstDone, op: COMPENSATE },
  'saga undo not listed': { transaction: listed, op: COMPENSATE },
  'saga undo idle': { transaction: aborted, op: COMPENSATE },
  'saga undo calling': { transaction: after(aborted, [sent([1, COMPENSATE])]), op: COMPENSATE },
  'saga undo waiting': {
    transaction: after(aborted, [sent([1, COMPENSATE]), answered(1, COMPENSATE, 'unknown')]),
    op: COMPENSATE,
  },
  'saga undo by hand': {
    transaction: after(parallel(2), [
      sent([0, ACTION]),
      operator.skip('02', ACTION, 'hand'),
      answered(0, ACTION, 'failure'),
    ]),
    op: COMPENSATE,
  },
  'saga undo succeeded': {
    transaction: after(aborted, [sent([1, COMPENSATE]), answered(1, COMPENSATE, 'success')]),
    op: COMPENSATE,
  },
  'saga unknown op': { transaction: firstDone, op: 'confirm' },
  'saga succeeded': { transaction: byHand, op: ACTION },
  'saga stopped': { transaction: after(firstDone, [operator.stop()]), op: ACTION },
  'saga paused': { transaction: after(firstDone, [operator.pause()]), op: ACTION },
  'tcc prepared': { transaction: buildTcc(2), op: 'confirm' },
  'tcc confirm idle': { transaction: confirming, op: 'confirm' },
  'tcc confirm calling': { transaction: folded(confirming, [sending([1, 'confirm'])]), op: 'confirm' },
  'tcc confirm waiting': {
    transaction: folded(confirming, [sending([1, 'confirm']), answering(1, 'confirm', 'unknown')]),
    op: 'confirm',
  },
  'tcc confirm succeeded': {
    transaction: folded(confirming, [sending([1, 'confirm']), answering(1, 'confirm', 'success')]),
    op: 'confirm',
  },
  'tcc confirm cancelled': { transaction: cancelling, op: 'confirm' },
  'tcc cancel idle': { transaction: cancelling, op: 'cancel' },
  'message prepared': { transaction: buildMessage(2), op: ACTION },
  'message delivery idle': { transaction: delivering, op: ACTION },
  'message delivery waiting': {
    transaction: folded(buildPlainMessage(2), [
      sending([0, ACTION]),
      answering(0, ACTION, 'success'),
      sending([1, ACTION]),
      answering(1, ACTION, 'unknown'),
    ]),
    op: ACTION,
  },
}

const COMMANDS: Readonly<Record<string, (op: Op) => GivenCommand>> = {
  pause: () => operator.pause('p2'),
  resume: () => operator.resume('r2'),
  retry: () => operator.retry('t2'),
  'retry-op': (op) => operator.retryOp('02', op, 'o2'),
  service: (op) => operator.skip('02', op, 'service', { id: 's2' }),
  hand: (op) => operator.skip('02', op, 'hand', { id: 'h2' }),
  url: (op) => operator.edit('02', op, { url: 'http://other.test/' }, { id: 'u2' }),
  headers: (op) => operator.edit('02', op, { headers: { a: 'b' } }, { id: 'e2' }),
  stop: () => operator.stop('x2'),
}

const CODES: Readonly<Record<string, string>> = {
  '-': 'allowed',
  final: 'already-final',
  unknown: 'op-unknown',
  done: 'op-done',
  early: 'op-not-due',
  busy: 'op-busy',
  confirm: 'confirmation-required',
  paused: 'paused',
}

describe('what is refused of an operator', () => {
  for (const { cells } of table`
    standing                  pause  resume  retry   retry-op  service  hand     url      headers  stop
    saga action not reached   -      -       -       -         early    early    -        -        -
    saga action idle          -      -       -       -         -        -        -        -        -
    saga action calling       -      -       -       -         busy     busy     busy     busy     -
    saga action waiting       -      -       -       -         -        confirm  confirm  -        -
    saga action succeeded     -      -       -       done      done     done     done     done     -
    saga action open          -      -       -       early     early    early    early    early    -
    saga action given up      -      -       -       early     early    early    early    early    -
    saga undo not decided     -      -       -       early     early    early    -        -        -
    saga undo not listed      -      -       -       early     early    early    early    early    -
    saga undo idle            -      -       -       -         -        -        -        -        -
    saga undo calling         -      -       -       -         busy     busy     busy     busy     -
    saga undo waiting         -      -       -       -         -        confirm  confirm  -        -
    saga undo by hand         -      -       -       early     -        -        early    early    -
    saga undo succeeded       -      -       -       done      done     done     done     done     -
    saga unknown op           -      -       -       unknown   unknown  unknown  unknown  unknown  -
    saga succeeded            final  final   final   final     final    final    final    final    final
    saga stopped              final  final   final   final     final    final    final    final    final
    saga paused               -      -       paused  paused    -        -        -        -        -
    tcc prepared              -      -       -       early     early    early    -        -        -
    tcc confirm idle          -      -       -       -         -        -        -        -        -
    tcc confirm calling       -      -       -       -         busy     busy     busy     busy     -
    tcc confirm waiting       -      -       -       -         -        confirm  confirm  -        -
    tcc confirm succeeded     -      -       -       done      done     done     done     done     -
    tcc confirm cancelled     -      -       -       early     early    early    early    early    -
    tcc cancel idle           -      -       -       -         -        -        -        -        -
    message prepared          -      -       -       early     early    early    -        -        -
    message delivery idle     -      -       -       -         -        -        -        -        -
    message delivery waiting  -      -       -       -         -        confirm  confirm  -        -
  `) {
    const { standing = '', ...refusals } = cells
    for (const [name, expected] of Object.entries(refusals)) {
      it(`${standing} · ${name} → ${expected}`, () => {
        const state = STANDINGS[standing]
        const command = COMMANDS[name]
        if (state === undefined || command === undefined) throw new Error('there is no such state or command')
        const { transaction, op } = state
        const given = command(op)
        expect(refuse(transaction, given) ?? 'allowed').toBe(CODES[expected])
        const { next, durability } = transition(transaction, given, CREATED_AT + 1)
        // A command and its entry come together, and so do a refusal and no entry.
        const added = (next.trail?.length ?? 0) - (transaction.trail?.length ?? 0)
        expect([added, durability]).toEqual(expected === '-' ? [1, 'strong'] : [0, 'none'])
        if (expected !== '-') expect(next).toBe(transaction)
      })
    }
  }

  it('A branch that is not there is no op of the transaction', () => {
    expect(refuse(firstDone, operator.retryOp('09', ACTION))).toBe('op-unknown')
  })

  it('A query-back may be retried and not skipped, since a submit or an abort says more', () => {
    expect(refuse(buildMessage(1), operator.retryOp('00', 'msg'))).toBeUndefined()
    expect(refuse(buildMessage(1), operator.skip('00', 'msg'))).toBe('op-not-due')
    expect(refuse(buildPlainMessage(1), operator.retryOp('00', 'msg'))).toBe('op-unknown')
  })

  it('A call that may have been sent needs the confirmation, though no attempt is recorded', () => {
    const unknown = { ...firstDone, sentUnknown: true }
    expect(refuse(unknown, operator.skip('02', ACTION, 'hand'))).toBe('confirmation-required')
    const confirmed = { confirm: 'no-call-took-effect' }
    expect(refuse(unknown, operator.skip('02', ACTION, 'hand', confirmed))).toBeUndefined()
    expect(refuse(unknown, operator.edit('02', ACTION, { body: '{}' }, confirmed))).toBeUndefined()
  })

  it('Edits over 512 KiB are refused', () => {
    const body = 'x'.repeat(300 * 1024)
    const one = after(parallel(2), [operator.edit('01', ACTION, { body })])
    expect(refuse(one, operator.edit('02', ACTION, { body }))).toBe('edits-too-large')
    expect(refuse(one, operator.edit('01', ACTION, { body }, { id: 'again' }))).toBeUndefined()
  })
})

describe('the same command again', () => {
  it('changes nothing and is not refused, also after the end', () => {
    const stopped = after(firstDone, [operator.stop('x')])
    expect(isFinal(stopped)).toBe(true)
    expect(refuse(stopped, operator.stop('x'))).toBeUndefined()
    expect(transition(stopped, operator.stop('x'), CREATED_AT + 9).next).toBe(stopped)
    const retried = after(firstDone, [operator.retry('r')])
    expect(transition(retried, operator.retry('r'), CREATED_AT + 9).next).toBe(retried)
  })

  it('An id that another command has is refused', () => {
    const paused = after(firstDone, [operator.pause('one')])
    expect(refuse(paused, operator.stop('one'))).toBe('command-conflict')
    expect(refuse(paused, operator.pause('one', CREATED_AT + 5_000))).toBe('command-conflict')
    const skipped = after(parallel(2), [operator.skip('01', ACTION, 'service', { id: 's' })])
    expect(refuse(skipped, operator.skip('02', ACTION, 'service', { id: 's' }))).toBe('command-conflict')
    expect(refuse(skipped, operator.skip('01', ACTION, 'hand', { id: 's' }))).toBe('command-conflict')
  })

  it('A retry that was merged into a later one is still known', () => {
    const twice = after(firstDone, [operator.retry('one'), operator.retry('two')])
    expect(twice.trail).toMatchObject([{ id: 'two', count: 2 }])
    expect(transition(twice, operator.retry('one'), CREATED_AT).next).toBe(twice)
  })
})

describe('an entry of the trail', () => {
  it('says who, what, why and from which status', () => {
    const given = { reason: 'the bank has booked it by telex', confirm: 'no-call-took-effect' }
    const skipped = after(firstDone, [operator.skip('02', ACTION, 'hand', given)])
    expect(skipped.trail).toEqual([
      {
        id: 'skip-02-action',
        at: CREATED_AT,
        by: { via: 'api', key: { id: 'k1', name: 'ops' } },
        command: 'skip',
        op: { branchId: '02', op: ACTION },
        reason: 'the bank has booked it by telex',
        confirm: 'no-call-took-effect',
        from: 'submitted',
        before: 'idle, 0 attempts',
        after: 'done by hand',
      },
    ])
  })

  it('An edit of an action reaches its compensation, unless that has a content of its own', () => {
    const fields = { url: 'http://bank.test/other', body: '{"cents":2000}', headers: { 'x-a': 'b' } }
    const edited = after(firstDone, [operator.edit('02', ACTION, fields)]) as SagaTransaction
    const { url } = buildRequest(firstDone as SagaTransaction, 1, 'compensate')
    const { body, headers } = fields
    expect(buildRequest(edited, 1, 'compensate')).toMatchObject({ url, body, headers })
    const compensationContent = { body: '{"own":1}', contentType: 'application/json', headers: {} }
    const branches = edited.definition.branches.map((branch) => ({ ...branch, compensationContent }))
    const apart = { ...edited, definition: { ...edited.definition, branches } }
    expect(buildRequest(apart, 1, 'compensate')).toMatchObject({ url, ...compensationContent })
  })

  it('The id of an edit is taken for another one of the same length', () => {
    const edit = (body: string, id: string) => operator.edit('02', ACTION, { body }, { id })
    const edited = after(firstDone, [edit('{"cents":2050}', 'e')])
    expect(refuse(edited, edit('{"cents":2050}', 'e'))).toBeUndefined()
    expect(refuse(edited, edit('{"cents":2000}', 'e'))).toBe('command-conflict')
    const again = after(edited, [edit('{"cents":1000}', 'f')])
    expect(refuse(again, edit('{"cents":2050}', 'e'))).toBeUndefined()
  })

  it('shows of an edit neither its payload nor the query of its URL', () => {
    const fields = { url: 'http://bank.test/pay?key=s3cr3t', body: '{"card":"4711"}' }
    const [entry] = after(firstDone, [operator.edit('02', ACTION, fields)]).trail ?? []
    expect(entry?.after).toBe('url http://bank.test/pay, payload of 15 bytes')
    expect(JSON.stringify(entry)).not.toMatch(/s3cr3t|4711/)
  })

  it('A client that aborts makes none, so its record is what it was', () => {
    expect(after(firstDone, [ABORT])).not.toHaveProperty('trail')
    expect(after(firstDone, [operator.abort()]).trail).toMatchObject([
      { command: 'abort', from: 'submitted' },
    ])
  })
})
