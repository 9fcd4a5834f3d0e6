import { HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  buildMessage,
  buildPlainMessage,
  buildTcc,
  folded,
  RETRY_NOW,
  register,
  STOP,
  SUBMIT,
  TIME,
} from '../../test/prepared.ts'
import { refuse } from '../../test/refuse.ts'
import { serial } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import type { Command } from '../rules/events.ts'
import type { Transaction } from '../transaction.ts'
import { isDone, REGISTERED_BYTES_MAX, REGISTERED_MAX } from './refuse-command.ts'

const tcc = buildTcc(1)
const STATES: Readonly<Record<string, Transaction>> = {
  'saga submitted': serial(1),
  'saga stopped': folded(serial(1), [STOP]),
  'tcc prepared': tcc,
  'tcc submitted': folded(tcc, [SUBMIT]),
  'tcc aborting': folded(tcc, [ABORT]),
  'tcc succeeded': folded(buildTcc(0), [SUBMIT]),
  'tcc failed': folded(buildTcc(0), [ABORT, TIME]),
  'tcc stopped': folded(tcc, [STOP]),
  'message prepared': buildMessage(1),
  'message submitted': buildPlainMessage(1),
  'message failed': folded(buildMessage(1), [ABORT]),
  'message stopped': folded(buildMessage(1), [STOP]),
}

const COMMANDS: Readonly<Record<string, Command>> = {
  register: register(1),
  again: register(0),
  other: register(0, { body: 'other' }),
  submit: SUBMIT,
  abort: ABORT,
  retry: RETRY_NOW,
  stop: STOP,
}

describe('what is refused', () => {
  for (const { cells } of table`
    state              register      again         other          submit        abort          retry          stop
    saga submitted     wrong-kind    wrong-kind    wrong-kind     wrong-kind    -              -              -
    saga stopped       wrong-kind    wrong-kind    wrong-kind     wrong-kind    already-final  already-final  already-final
    tcc prepared       -             -             branch-exists  -             -              -              -
    tcc submitted      not-prepared  not-prepared  not-prepared   -             not-prepared   -              -
    tcc aborting       not-prepared  not-prepared  not-prepared   not-prepared  -              -              -
    tcc succeeded      not-prepared  not-prepared  not-prepared   -             already-final  already-final  already-final
    tcc failed         not-prepared  not-prepared  not-prepared   not-prepared  already-final  already-final  already-final
    tcc stopped        not-prepared  not-prepared  not-prepared   not-prepared  already-final  already-final  already-final
    message prepared   wrong-kind    wrong-kind    wrong-kind     -             -              -              -
    message submitted  wrong-kind    wrong-kind    wrong-kind     -             not-prepared   -              -
    message failed     wrong-kind    wrong-kind    wrong-kind     not-prepared  already-final  already-final  already-final
    message stopped    wrong-kind    wrong-kind    wrong-kind     not-prepared  already-final  already-final  already-final
  `) {
    const { state = '', ...refusals } = cells
    for (const [name, refusal] of Object.entries(refusals)) {
      it(`${state} · ${name} → ${refusal}`, () => {
        const [transaction, command] = [STATES[state], COMMANDS[name]]
        if (transaction === undefined || command === undefined) throw new Error('no such state or command')
        expect(refuse(transaction, command)).toBe(refusal === '-' ? undefined : refusal)
      })
    }
  }

  it('Every change of a registered branch is refused', () => {
    for (const change of [
      { confirm: 'http://other.test/' },
      { cancel: 'http://other.test/' },
      { contentType: 'text/plain' },
      { headers: { 'x-tenant': 'blue' } },
      { timeoutMs: 5 },
      { retry: { initialMs: 1, factor: 2, capMs: 3, jitter: 0, limit: null } },
    ])
      expect(refuse(tcc, register(0, change))).toBe('branch-exists')
  })

  it('The same branch with its headers in another order is not refused', () => {
    const standing = folded(buildTcc(0), [register(0, { headers: { a: '1', b: '2' } })])
    expect(refuse(standing, register(0, { headers: { b: '2', a: '1' } }))).toBeUndefined()
  })

  it(`is branch ${REGISTERED_MAX + 1}, but not the last one again`, () => {
    const full = buildTcc(REGISTERED_MAX)
    expect(refuse(buildTcc(REGISTERED_MAX - 1), register(REGISTERED_MAX - 1))).toBeUndefined()
    expect(refuse(full, register(REGISTERED_MAX))).toBe('too-many-branches')
    expect(refuse(full, register(REGISTERED_MAX - 1))).toBeUndefined()
  })

  it('A branch is refused when a call would carry too many headers together with those of all branches', () => {
    const headers = (name: string, count: number, text = 'x') =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}-${n}`, text]))
    const common = buildTcc(0, { headers: headers('a', 15) })
    expect(refuse(common, register(0, { headers: headers('b', HEADERS_MAX - 15) }))).toBeUndefined()
    expect(refuse(common, register(0, { headers: headers('b', HEADERS_MAX - 14) }))).toBe('headers-too-large')
    // A header of the branch replaces the common one of the same name.
    expect(refuse(common, register(0, { headers: headers('a', HEADERS_MAX) }))).toBeUndefined()
    const long = 'x'.repeat(HEADER_BYTES_MAX / 2)
    expect(refuse(buildTcc(0, { headers: { a: long } }), register(0, { headers: { b: long } }))).toBe(
      'headers-too-large',
    )
  })

  it('A branch is refused when all bodies together would be too large for each save', () => {
    const body = 'x'.repeat(REGISTERED_BYTES_MAX / 4)
    const three = buildTcc(3, {}, { body })
    expect(refuse(three, register(3, { body }))).toBeUndefined()
    expect(refuse(buildTcc(4, {}, { body }), register(4, { body: 'x' }))).toBe('too-large')
    expect(refuse(three, register(3, { body: 'é'.repeat(REGISTERED_BYTES_MAX / 4) }))).toBe('too-large')
  })
})

describe('what is done', () => {
  for (const { cells } of table`
    state              register  again  other  submit  abort  retry  stop
    saga submitted     no        no     no     yes     no     yes    no
    saga stopped       no        no     no     no      no     no     yes
    tcc prepared       no        yes    no     no      no     yes    no
    tcc submitted      no        yes    no     yes     no     yes    no
    tcc aborting       no        yes    no     no      yes    yes    no
    tcc succeeded      no        no     no     yes     no     yes    no
    tcc failed         no        no     no     no      yes    yes    no
    tcc stopped        no        yes    no     no      no     no     yes
    message prepared   no        no     no     no      no     yes    no
    message submitted  no        no     no     yes     no     yes    no
    message failed     no        no     no     no      yes    yes    no
    message stopped    no        no     no     no      no     no     yes
  `) {
    const { state = '', ...answers } = cells
    it(`is known of a ${state}`, () => {
      const transaction = STATES[state]
      if (transaction === undefined) throw new Error('no such state')
      const done = Object.entries(COMMANDS).map(([name, command]) => [
        name,
        isDone(transaction, command) ? 'yes' : 'no',
      ])
      expect(Object.fromEntries(done)).toEqual(answers)
    })
  }
})
