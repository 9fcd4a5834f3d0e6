import { PROBLEM_LENGTH_MAX, type Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildMessage,
  buildPlainMessage,
  buildTcc,
  CHECK_AT,
  folded,
  SUBMIT,
  sending,
} from '../../test/prepared.ts'
import { after, answered, asSaga, buildRow, buildSaga, parallel, sent, serial } from '../../test/sagas.ts'
import { WorkflowFixture } from '../../test/workflows.ts'
import { findAlerts } from '../alerts/find-alerts.ts'
import type { SagaOp, SagaTransaction, Transaction } from '../transaction.ts'
import { describeTrouble, describeUnreadable } from './describe-trouble.ts'
import { decodeTransaction } from './record.ts'

type Answers = readonly (readonly [branch: number, op: SagaOp, result: Result, error?: string])[]

/** Sends each op and answers it, in this order. */
function play(saga: SagaTransaction, answers: Answers): SagaTransaction {
  let next = saga
  for (const [branch, op, result, error] of answers) {
    const attempt = (next.branches[branch]?.[op].attempts ?? 0) + 1
    const answer = answered(branch, op, result, { attempt, ...(error === undefined ? {} : { error }) })
    next = after(next, [sent([branch, op]), answer])
  }
  return next
}

const SUCCESS = [0, 'action', 'success'] as const
const FAILURE = [1, 'action', 'failure'] as const
const many = (count: number, answer: Answers[number]): Answers => Array.from({ length: count }, () => answer)

const SAGAS: readonly (readonly [
  title: string,
  saga: SagaTransaction,
  problem?: string,
  attempts?: number,
])[] = [
  ['A saga to which nothing has happened has no problem', serial(2)],
  ['A saga whose ops succeed at once has no problem', play(serial(2), [SUCCESS])],
  [
    'An action that timed out is the problem',
    play(serial(2), [[0, 'action', 'unknown']]),
    'bank.test action timeout',
    1,
  ],
  [
    'It stays while it is asked again',
    after(play(serial(2), [[0, 'action', 'unknown']]), [sent([0, 'action'])]),
    'bank.test action timeout',
    2,
  ],
  ['It is over with the success', play(serial(2), [[0, 'action', 'unknown'], SUCCESS])],
  ['An ongoing answer is 425', play(serial(2), [[0, 'action', 'ongoing']]), 'bank.test action 425', 1],
  [
    'The op with the most attempts is named',
    play(parallel(3), [
      [0, 'action', 'unknown', 'refused'],
      [1, 'action', 'unknown'],
      [1, 'action', 'unknown'],
      [2, 'action', 'ongoing'],
    ]),
    'bank.test action timeout',
    2,
  ],
  [
    'Among equals the first is named',
    play(parallel(2), [
      [0, 'action', 'unknown', 'refused'],
      [1, 'action', 'unknown'],
    ]),
    'bank.test action refused',
    1,
  ],
  [
    'A compensation that waits is the problem',
    play(serial(2), [SUCCESS, FAILURE, [1, 'compensate', 'unknown']]),
    'bank.test compensate timeout',
    1,
  ],
  ['An action that was given up is none', play(parallel(2), [[0, 'action', 'unknown'], FAILURE])],
  [
    'A compensation that answers failure is 409',
    play(serial(2), [SUCCESS, FAILURE, [1, 'compensate', 'failure']]),
    'bank.test compensate 409',
    1,
  ],
  [
    'An op that needs a person goes before one with more attempts',
    play(parallel(2), [
      SUCCESS,
      FAILURE,
      ...many(4, [0, 'compensate', 'unknown']),
      [1, 'compensate', 'failure'],
    ]),
    'bank.test compensate 409',
    1,
  ],
  ['A final saga has no problem', play(serial(1), [[0, 'action', 'unknown'], SUCCESS])],
  [
    'A stopped saga has no problem',
    after(play(serial(1), [[0, 'action', 'unknown']]), [{ type: 'stop-asked' }]),
  ],
  [
    'A row that rests for want of progress says so',
    { ...serial(1), attention: 'claimed 3 times without progress' },
    '– no-progress',
  ],
  [
    'A request that cannot be built says so',
    { ...serial(1), attention: 'action of branch 01 cannot be sent: no value' },
    '– value-unusable',
  ],
  [
    'A wait that cannot open says so',
    { ...serial(1), attention: 'wait of branch 01 cannot open: no value' },
    '– value-unusable',
  ],
  [
    'A mark of something that is over is no problem',
    { ...serial(1), attention: 'compensation of branch 01 failed 10 times' },
  ],
]

describe('the problem of a saga', () => {
  for (const [title, saga, problem, attempts] of SAGAS) {
    it(title, () => {
      const expected = {
        ...(problem === undefined ? {} : { problem }),
        ...(attempts === undefined ? {} : { attempts }),
      }
      expect(describeTrouble(saga)).toEqual(expected)
      expect(describeTrouble(decodeTransaction(buildRow(saga)))).toEqual(expected)
    })
  }

  it('A named service is called by its name, and a long host is cut', () => {
    const saga = play(buildSaga([{}]), [[0, 'action', 'unknown']])
    const at = (action: string) => {
      const branches = saga.definition.branches.map((branch) => ({ ...branch, action }))
      return describeTrouble(asSaga({ ...saga, definition: { ...saga.definition, branches } })).problem
    }
    expect(at('bank-a:/debit?key=secret')).toBe('bank-a action timeout')
    expect(at(`http://${'x'.repeat(400)}/debit`)).toBe('x'.repeat(PROBLEM_LENGTH_MAX))
  })
})

describe('S31: a problem that bears the name of a service of alerts', () => {
  const saga = play(buildSaga([{}]), [[0, 'action', 'unknown']])
  const callAt = (action: string) => {
    const branches = saga.definition.branches.map((branch) => ({ ...branch, action }))
    return asSaga({ ...saga, definition: { ...saga.definition, branches } })
  }
  const askWorkflow = (workflow: string) =>
    WorkflowFixture.accepted({ workflow }).planFails({ result: 'unknown', statusCode: 500 }).workflow
  /** Lists the subjects of which alerts tell while such a transaction needs a person. */
  const listTold = (transaction: Transaction) => {
    const { problem = '' } = describeTrouble(transaction)
    const problems = [{ problem, waiting: 1, attention: 1, oldestAt: 0 }]
    const seen = { now: 1, problems, names: [], storeEvents: [], bulkJobs: [] }
    const settings = { failedShare: 1, services: new Set(['alert-ops']) }
    return findAlerts(seen, settings).map(({ subject }) => subject)
  }

  it('S31: An alert tells of the problem of a workflow or a host that bears the name of a service of alerts', () => {
    expect(listTold(askWorkflow('alert-ops'))).toEqual(['alert-ops: plan 500'])
    expect(listTold(callAt('http://alert-ops/x'))).toEqual(['alert-ops: action timeout'])
    expect(listTold(callAt('https://u:p@ALERT-OPS?x'))).toEqual(['alert-ops: action timeout'])
    expect(listTold(askWorkflow('order'))).toEqual(['order plan 500'])
  })

  it('No alert tells of the services of alerts, and a service that is named like one keeps its name', () => {
    expect(listTold(callAt('alert-ops:/'))).toEqual([])
    expect(listTold(callAt('alert-bank:/debit'))).toEqual(['alert-bank action timeout'])
  })
})

describe('the problem of the other kinds', () => {
  it('A query-back that does not answer is the problem of a prepared message', () => {
    const asked = folded(buildMessage(1), [sending([CHECK_AT, 'msg']), answering(CHECK_AT, 'msg', 'unknown')])
    expect(describeTrouble(asked)).toEqual({ problem: 'bank.test msg timeout', attempts: 1 })
    expect(describeTrouble(folded(asked, [SUBMIT]))).toEqual({})
  })

  it('A delivery that is refused is the problem of a submitted message', () => {
    const refused = [sending([0, 'action']), answering(0, 'action', 'failure')]
    expect(describeTrouble(folded(buildPlainMessage(2), refused))).toEqual({
      problem: 'bank.test action 409',
      attempts: 1,
    })
  })

  for (const [decision, op] of [
    [SUBMIT, 'confirm'],
    [ABORT, 'cancel'],
  ] as const) {
    it(`A ${op} that does not answer is the problem of a TCC`, () => {
      const decided = folded(buildTcc(2), [decision])
      expect(describeTrouble(decided)).toEqual({})
      const asked = folded(decided, [sending([1, op]), answering(1, op, 'unknown', { error: 'refused' })])
      expect(describeTrouble(asked)).toEqual({ problem: `bank.test ${op} refused`, attempts: 1 })
    })
  }
})

describe('a record that cannot be read', () => {
  it('Its row says so and keeps its marks', () => {
    expect(describeUnreadable({})).toEqual({ problem: '– record-unreadable' })
    expect(describeUnreadable({ marks: ['edited'] })).toEqual({
      problem: '– record-unreadable',
      marks: ['edited'],
    })
  })
})
