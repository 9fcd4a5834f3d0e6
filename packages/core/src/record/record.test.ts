import type { Result } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildMessage,
  buildPlainMessage,
  buildTcc,
  buildXa,
  CHECK_AT,
  callsIn,
  folded,
  RETRY_NOW,
  register,
  STOP,
  SUBMIT,
  xaBranchAt,
} from '../../test/prepared.ts'
import {
  after,
  answered,
  asSaga,
  type BranchPlan,
  buildRow,
  buildSaga,
  CREATED_AT,
  listCalls,
  parallel,
  sent,
  serial,
} from '../../test/sagas.ts'
import { transition } from '../../test/transition.ts'
import { call, local, timer, WorkflowFixture } from '../../test/workflows.ts'
import { AssertionError } from '../errors.ts'
import type { StoredTransaction } from '../ports/store.ts'
import type { CallKey, TransactionEvent } from '../rules/events.ts'
import { findOp } from '../rules/op-progress.ts'
import { isFinal, type SagaOp, type SagaTransaction, type Transaction } from '../transaction.ts'
import { decodeTransaction, encodeDefinition, encodeProgress, FORMAT, toFormat } from './record.ts'

const RUN = '{"outcome":"500","from":1,"count":1,"firstAt":1,"lastAt":1}'

function withRuns(runs: string): Partial<StoredTransaction> {
  return { progress: `{"b":[{"a":{"runs":${runs}}}],"abort":{"cause":"requested","at":1,"branches":[]}}` }
}

/** Writes a transaction down and reads it again. */
function reread(transaction: Transaction): Transaction {
  return decodeTransaction(buildRow(transaction))
}

/** Draws up to six branches, each after some of those before it. */
const plans: fc.Arbitrary<readonly BranchPlan[]> = fc
  .array(
    fc.record({
      before: fc.array(fc.nat(5), { maxLength: 3 }),
      undoable: fc.boolean(),
      limit: fc.constantFrom(null, 1, 2),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((branches) =>
    branches.map(({ before, undoable, limit }, position) => ({
      after: [...new Set(before.filter((earlier) => earlier < position))],
      retry: { limit },
      ...(undoable ? {} : { compensation: false as const }),
    })),
  )

const sagas: fc.Arbitrary<Transaction> = fc
  .record({
    plans,
    deadlineMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
    delayMs: fc.option(fc.integer({ min: 1, max: 2_000 }), { nil: undefined }),
    checkpointMs: fc.constantFrom(0, 1_000),
  })
  .map(({ plans: branches, deadlineMs, delayMs, checkpointMs }) =>
    buildSaga(branches, {
      checkpointMs,
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(delayMs === undefined ? {} : { delayMs }),
    }),
  )

/** The next event, chosen by numbers so that it fits any transaction. */
interface Choice {
  readonly kind: number
  readonly pick: number
  readonly result: Result
  readonly excerpt: string
  readonly passes: number
  readonly jitter01: number
}

const choices: fc.Arbitrary<readonly Choice[]> = fc.array(
  fc.record({
    kind: fc.nat(99),
    pick: fc.nat(99),
    result: fc.constantFrom('success', 'success', 'failure', 'ongoing', 'unknown'),
    excerpt: fc.string({ unit: 'binary', maxLength: 8 }),
    passes: fc.nat(1_500),
    jitter01: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  }),
  { maxLength: 40 },
)

function chosen(transaction: SagaTransaction, choice: Choice, now: number): TransactionEvent {
  const { kind, pick } = choice
  if (kind < 2) return { type: 'abort-asked' }
  if (kind < 5) return { type: 'retry-asked' }
  if (kind < 6) return { type: 'stop-asked' }
  if (kind < 10) return { type: 'claimed', epoch: transaction.epoch + 1, sentUnknown: kind % 2 === 0 }
  const inFlight = transaction.branches.flatMap(({ action, compensate }, branch) => [
    ...(action.state === 'calling' ? [[branch, 'action', action.attempts] as const] : []),
    ...(compensate.state === 'calling' ? [[branch, 'compensate', compensate.attempts] as const] : []),
  ])
  const [branch, op, attempt] = inFlight[pick % Math.max(inFlight.length, 1)] ?? []
  if (kind < 60 && branch !== undefined && op !== undefined) return answerTo(branch, op, attempt, choice)
  const ready = listCalls(transition(transaction, { type: 'time' }, now).effects)
  return ready.length === 0 ? { type: 'time' } : sent(...ready)
}

function answerTo(branch: number, op: SagaOp, attempt: number | undefined, choice: Choice): TransactionEvent {
  const { result, excerpt, jitter01, pick } = choice
  const late = pick % 10 === 0 ? { attempt: 99 } : { attempt: attempt ?? 1 }
  return { ...answered(branch, op, result, { ...late, excerpt }), jitter01 }
}

/** Sets the fields that come from the columns of the row, not from the progress. */
function withClaim(
  transaction: Transaction,
  sentUnknown: boolean,
  epoch: number,
): Partial<StoredTransaction> {
  return { sentList: sentUnknown ? 'unknown' : 'held', epoch, updatedAt: transaction.updatedAt }
}

const tccs: fc.Arbitrary<Transaction> = fc
  .record({
    count: fc.nat(4),
    deadlineMs: fc.integer({ min: 1, max: 9_000 }),
    checkpointMs: fc.constantFrom(0, 1_000),
  })
  .map(({ count, ...settings }) => buildTcc(count, settings))
const xas: fc.Arbitrary<Transaction> = fc.nat(4).map(buildXa)
const messages: fc.Arbitrary<Transaction> = fc
  .record({
    count: fc.integer({ min: 1, max: 4 }),
    concurrent: fc.boolean(),
    isPlain: fc.boolean(),
    delayMs: fc.constantFrom(0, 500),
  })
  .map(({ count, isPlain, ...settings }) =>
    isPlain
      ? buildPlainMessage(count, settings)
      : buildMessage(count, { ...settings, check: { url: 'http://bank.test/', afterMs: 300, headers: {} } }),
  )

function chosenFor(transaction: Transaction, choice: Choice, now: number): TransactionEvent {
  const { kind, pick } = choice
  if (kind < 12) return [SUBMIT, ABORT, registerAt(transaction)][kind % 3] ?? SUBMIT
  if (kind < 15) return RETRY_NOW
  if (kind < 16) return STOP
  if (kind < 20) return { type: 'claimed', epoch: transaction.epoch + 1, sentUnknown: kind % 2 === 0 }
  const inFlight = listInFlight(transaction)
  const call = inFlight[pick % Math.max(inFlight.length, 1)]
  if (kind < 60 && call !== undefined) {
    const { result, excerpt } = choice
    const attempt = pick % 10 === 0 ? 99 : (findOp(transaction, call)?.attempts ?? 1)
    return answering(call.branch, call.op, result, { attempt, excerpt })
  }
  const calls = callsIn(transition(transaction, { type: 'time' }, now).effects)
  return calls.length === 0 ? { type: 'time' } : { type: 'sent', calls }
}

function registerAt({ kind, branches }: Transaction): TransactionEvent {
  const position = branches.length
  return kind === 'xa' ? { type: 'register-asked', branch: xaBranchAt(position) } : register(position)
}

function listInFlight(transaction: Transaction): CallKey[] {
  const ops = ['confirm', 'cancel', 'commit', 'rollback', 'action'] as const
  const all: CallKey[] = transaction.branches.flatMap((_, branch) => ops.map((op) => ({ branch, op })))
  all.push({ branch: CHECK_AT, op: 'msg' })
  return all.filter((call) => findOp(transaction, call)?.state === 'calling')
}

describe('a record', () => {
  it('A decoded record goes on as the transaction itself would, after and before any events (I25)', () => {
    fc.assert(
      fc.property(sagas, choices, (saga, walk) => {
        let transaction = saga
        let now = CREATED_AT
        for (const choice of walk) {
          now += choice.passes
          const event = chosen(asSaga(transaction), choice, now)
          // An action is sent only while it may be: a saga that `time` would abort is aborted first.
          transaction = event.type === 'sent' ? after(transaction, [{ type: 'time' }], now) : transaction
          const copy = decodeTransaction(
            buildRow(transaction, withClaim(transaction, transaction.sentUnknown, transaction.epoch)),
          )
          expect(copy).toEqual(transaction)
          const own = transition(transaction, event, now)
          expect(transition(copy, event, now)).toEqual(own)
          transaction = own.next
        }
        expect(reread(transaction)).toEqual(transaction)
      }),
      { numRuns: 300 },
    )
  })

  it('The random walks reach every status, so that they prove something', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(sagas, choices, (saga, walk) => {
        let transaction = saga
        let now = CREATED_AT
        for (const choice of walk) {
          now += choice.passes
          const event = chosen(asSaga(transaction), choice, now)
          if (event.type === 'sent') transaction = after(transaction, [{ type: 'time' }], now)
          transaction = after(transaction, [event], now)
          seen.add(transaction.status)
          if (isFinal(transaction)) break
        }
      }),
      { numRuns: 300 },
    )
    expect([...seen].sort()).toEqual(['aborting', 'failed', 'stopped', 'submitted', 'succeeded'])
  })

  it.each([
    ['a TCC', tccs],
    ['XA', xas],
    ['a message', messages],
  ])('of %s goes on as the transaction itself would', (_, kinds) => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(kinds, choices, (given, walk) => {
        let transaction: Transaction = given
        let now = CREATED_AT
        for (const choice of walk) {
          now += choice.passes
          const event = chosenFor(transaction, choice, now)
          if (event.type === 'sent') transaction = transition(transaction, { type: 'time' }, now).next
          const copy = decodeTransaction(
            buildRow(transaction, withClaim(transaction, transaction.sentUnknown, transaction.epoch)),
          )
          expect(copy).toEqual(transaction)
          expect(copy).not.toBe(transaction)
          const own = transition(transaction, event, now)
          expect(transition(copy, event, now)).toEqual(own)
          transaction = own.next
          seen.add(transaction.status)
        }
        expect(reread(transaction)).toEqual(transaction)
      }),
      { numRuns: 300 },
    )
    const aborting = _ === 'a message' ? [] : ['aborting']
    expect([...seen].sort()).toEqual([...aborting, 'failed', 'prepared', 'stopped', 'submitted', 'succeeded'])
  })

  it('A record has the format that the oldest reader of its kind knows', () => {
    expect(toFormat(serial(1))).toBe(1)
    expect(toFormat({ definition: { ...serial(1).definition, wordsCount: true } })).toBe(2)
    expect(toFormat(buildTcc(0))).toBe(2)
    expect(toFormat(buildMessage(1))).toBe(2)
    expect(toFormat({ definition: { ...serial(1).definition, callsGrpc: true } })).toBe(9)
    expect(toFormat({ ...buildTcc(0), definition: { ...buildTcc(0).definition, callsGrpc: true } })).toBe(9)
  })

  it('A record keeps a branch’s answer in any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (excerpt, error) => {
        const saga = after(serial(1), [
          sent([0, 'action']),
          answered(0, 'action', 'unknown', { excerpt, error }),
        ])
        expect(reread(saga)).toEqual(saga)
      }),
    )
    for (const excerpt of ['\u0000', '\ud800', '\udc00\ud800', '\u2028"\\', '💶', '</script>']) {
      const saga = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'success', { excerpt })])
      expect(asSaga(reread(saga)).branches[0]?.action.answer).toBe(excerpt)
      // Lone surrogates are escaped, because UTF-8 could not represent them.
      expect(encodeProgress(saga)).not.toMatch(/\p{Surrogate}/u)
    }
  })

  it('A record keeps names that are special in JavaScript as data', () => {
    const saga = serial(1)
    const definition = JSON.parse(
      encodeDefinition(saga.definition).replace(
        '"headers":{}',
        '"headers":{"__proto__":"x","constructor":"y"}',
      ),
    )
    const copy = asSaga(reread({ ...saga, definition }))
    expect(Object.keys(copy.definition.branches[0]?.headers ?? {})).toEqual(['__proto__', 'constructor'])
    expect(encodeDefinition(copy.definition)).toContain('"__proto__":"x"')
  })

  it('A record is short: branches without progress are not written', () => {
    expect(encodeProgress(parallel(100))).toBe('{}')
    const first = encodeProgress(after(parallel(100), [sent([0, 'action'])]))
    expect(JSON.parse(first).b).toHaveLength(1)
    expect(first.length).toBeLessThan(100)
  })

  it('Decoding takes the epoch, the instant of the last change and the list of sent actions from the row', () => {
    const row = buildRow(serial(1), { epoch: 4, updatedAt: CREATED_AT + 9, sentList: 'unknown' })
    expect(decodeTransaction(row)).toMatchObject({ epoch: 4, updatedAt: CREATED_AT + 9, sentUnknown: true })
    for (const sentList of ['held', 'released'] as const) {
      expect(decodeTransaction(buildRow(serial(1), { sentList })).sentUnknown).toBe(false)
    }
  })
})

const GOOD = after(serial(2), [
  sent([0, 'action']),
  answered(0, 'action', 'success'),
  sent([1, 'action']),
  answered(1, 'action', 'failure'),
  sent([1, 'compensate']),
  answered(1, 'compensate', 'unknown'),
])

describe('a corrupted record', () => {
  for (const [what, broken] of Object.entries({
    'a definition that is not JSON': { definition: '{' },
    'a definition that is null': { definition: 'null' },
    'a definition that is a list': { definition: '[]' },
    'an unknown kind': { definition: '{"kind":"tcc","branches":[]}' },
    'no branches': { definition: '{"kind":"saga"}' },
    'a branch that is null': { definition: '{"kind":"saga","retry":{},"branches":[null]}' },
    'a branch without predecessors': { definition: '{"kind":"saga","retry":{},"branches":[{"action":"a"}]}' },
    'no retry policy': { definition: '{"kind":"saga","branches":[]}' },
    'progress that is not JSON': { progress: '' },
    'progress that is a number': { progress: '7' },
    'branches that are no list': { progress: '{"b":5}' },
    'a branch of progress that is null': { progress: '{"b":[null]}' },
    'an op that is null': { progress: '{"b":[{"a":null}]}' },
    'an op that is a text': { progress: '{"b":[{"c":"x"}]}' },
    'an unknown state': { progress: '{"b":[{"a":{"state":"bogus"}}]}' },
    'runs that are no list': withRuns('{}'),
    'more runs than there may be': withRuns(`[${Array(9).fill(RUN)}]`),
    'a run without its count': withRuns(`[${RUN.replace('count', 'no')}]`),
    'a run whose outcome is a number': withRuns(`[${RUN.replace('"500"', '500')}]`),
    'a run whose excerpt is a number': withRuns(`[${RUN.replace('}', ',"excerpt":7}')}]`),
    'attempts that are no number': { progress: '{"b":[{"a":{"state":"idle","attempts":"1"}}]}' },
    'an aborting one without its decision': { progress: '{}' },
    'a decision without its list': { progress: '{"abort":{"cause":"requested","at":1}}' },
    'a mark that is null': { progress: '{"attention":null,"abort":{"branches":[]}}' },
    'a mark that is a number': { progress: '{"attention":7,"abort":{"branches":[]}}' },
    'a failed one without its end': { status: 'failed' },
    'a succeeded one without its end': { status: 'succeeded' },
    'a stopped one without its end': { status: 'stopped' },
    'a status that a saga never has': { status: 'prepared' },
    'a newer format': { format: FORMAT + 1 },
  } as const)) {
    it(`is an assertion, never another error: ${what}`, () => {
      expect(() => decodeTransaction(buildRow(GOOD, broken))).toThrow(AssertionError)
    })
  }

  it('Runs of attempts are read as they were written', () => {
    const { branches } = decodeTransaction(buildRow(GOOD, withRuns(`[${RUN}]`)))
    expect(branches[0]).toMatchObject({ action: { runs: [JSON.parse(RUN)] } })
  })

  it('A record with any replaced piece is readable or fails with an assertion', () => {
    const row = buildRow(GOOD)
    fc.assert(
      fc.property(
        fc.constantFrom('definition', 'progress'),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
        fc.jsonValue({ maxDepth: 2 }),
        (column, path, value) => {
          const text = JSON.stringify(replaced(JSON.parse(row[column]), path, value)) ?? 'null'
          expect(onlyAsserts(() => decodeTransaction({ ...row, [column]: text }))).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('A record of any JSON is readable or fails with an assertion', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('definition', 'progress'), (text, column) =>
        onlyAsserts(() => decodeTransaction(buildRow(GOOD, { [column]: text }))),
      ),
    )
  })
})

/** Puts `value` where the path of positions leads, but no deeper than the record goes. */
function replaced(node: unknown, [step = 0, ...rest]: readonly number[], value: unknown): unknown {
  if (typeof node !== 'object' || node === null) return value
  const keys = Object.keys(node)
  const key = keys[step % Math.max(keys.length, 1)]
  if (key === undefined) return value
  const copy: Record<string, unknown> | unknown[] = Array.isArray(node) ? [...node] : { ...node }
  const inner: unknown = Reflect.get(node, key)
  Reflect.set(copy, key, rest.length === 0 ? value : replaced(inner, rest, value))
  return copy
}

function onlyAsserts(decode: () => unknown): boolean {
  try {
    decode()
    return true
  } catch (error: unknown) {
    return error instanceof AssertionError
  }
}

describe('a corrupted record of a prepared kind', () => {
  const tcc = folded(buildTcc(2), [SUBMIT, { type: 'sent', calls: [{ branch: 1, op: 'confirm' }] }])
  const message = buildMessage(1)
  const { workflow } = WorkflowFixture.accepted()
    .plan({ next: [call('hold'), local('pack', 1), timer('nap', 5)] }, 'any')
    .saved()
  const branch = JSON.stringify(tcc.registered[0])
  const check = (value: unknown) => ({
    definition: JSON.stringify({ ...message.definition, check: value }),
  })
  for (const [what, good, broken] of [
    ['a registered branch that is a text', tcc, { progress: '{"r":["x"]}' }],
    ['registered branches that are no list', tcc, { progress: '{"r":{}}' }],
    ['a registered branch without an id', tcc, { progress: `{"r":[${branch.replace('"id"', '"no"')}]}` }],
    [
      'a registered branch without a confirm',
      tcc,
      { progress: `{"r":[${branch.replace('"confirm"', '"no"')}]}` },
    ],
    [
      'a registered branch without a cancel',
      tcc,
      { progress: `{"r":[${branch.replace('"cancel"', '"no"')}]}` },
    ],
    ['a branch of a TCC for XA', buildXa(1), { progress: `{"r":[${branch}]}` }],
    ['a TCC without a deadline', tcc, { definition: '{"kind":"tcc","retry":{},"headers":{}}' }],
    ['a confirm that is a number', tcc, { progress: `{"r":[${branch}],"b":[{"f":7}]}` }],
    ['a cancel of an unknown state', tcc, { progress: `{"r":[${branch}],"b":[{"x":{"state":"no"}}]}` }],
    ['a query-back that is null', message, check(null)],
    ['a query-back without its time', message, check({ url: 'http://a/', headers: {} })],
    ['a query-back without a URL', message, check({ afterMs: 5, headers: {} })],
    ['a prepared message without a query-back', message, check(undefined)],
    ['an answer of a query-back that is a text', message, { progress: '{"q":"x"}' }],
    ['a workflow that is null', message, { progress: '{"w":null}' }],
    ['a workflow that is a text', message, { progress: '{"w":"x"}' }],
    ['an aborting message', message, { status: 'aborting', progress: '{"abort":{"branches":[]}}' }],
  ] as const) {
    it(`is an assertion, never another error: ${what}`, () => {
      expect(() => decodeTransaction(buildRow(good, broken))).toThrow(AssertionError)
    })
  }

  it.each([tcc, message, workflow])(
    'is an assertion or goes on, wherever a piece of a $kind was replaced',
    (transaction) => {
      const row = buildRow(transaction)
      fc.assert(
        fc.property(
          fc.constantFrom('definition', 'progress'),
          fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
          fc.jsonValue({ maxDepth: 2 }),
          (column, path, value) => {
            const text = JSON.stringify(replaced(JSON.parse(row[column]), path, value)) ?? 'null'
            expect(onlyAsserts(() => decodeTransaction({ ...row, [column]: text }))).toBe(true)
          },
        ),
        { numRuns: 2_000 },
      )
    },
  )
})
