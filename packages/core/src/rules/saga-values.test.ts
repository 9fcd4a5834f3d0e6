import { KEPT_VALUE_BYTES_MAX, KEPT_VALUES_BYTES_MAX, PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { readCpuMs } from '../../test/read-cpu-ms.ts'
import { after, answered, answerNext, buildRow, CREATED_AT, effectsText, sent } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import { transition } from '../../test/transition.ts'
import { decodeTransaction, encodeProgress } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import type { SagaTransaction } from '../transaction.ts'
import { buildRequest } from '../values/build-request.ts'
import type { TransactionEvent } from './events.ts'

const BANK = 'http://bank.test'
const HOLD = { id: 'hold', action: `${BANK}/holds`, payload: { cents: 1250 } }
const CPU_MS_MAX = 4_000

const ID_OF_HOLD = { $from: 'hold', at: '/id' }

function startWithHold(next: object, hold: object = {}): SagaTransaction {
  return startSaga({
    branches: [
      { ...HOLD, ...hold },
      { id: 'next', action: `${BANK}/next`, ...next },
    ],
  })
}

/** Sends the action of a branch and answers it with success and this body. */
function succeed(branch: number, body?: string): readonly TransactionEvent[] {
  return [sent([branch, 'action']), answered(branch, 'action', 'success', body === undefined ? {} : { body })]
}

describe('Values of a saga', () => {
  it('A success whose values are used is a strong change, and any other success a lazy one', () => {
    const saga = startWithHold({ template: ID_OF_HOLD })
    const calling = after(saga, [sent([0, 'action'])])
    const first = transition(calling, answered(0, 'action', 'success', { body: '{"id":7}' }), CREATED_AT)
    expect(first.durability).toBe('strong')
    const plain = after(startWithHold({}), [sent([0, 'action'])])
    expect(
      transition(plain, answered(0, 'action', 'success', { body: '{"id":7}' }), CREATED_AT).durability,
    ).toBe('lazy')
  })

  it('Only the referenced values are recorded, as the text that they have in the answer', () => {
    const saga = after(
      startWithHold({ template: { amount: { $from: 'hold', at: '/amount' } } }),
      succeed(0, '{"amount":1.10,"secret":1}'),
    )
    expect(saga.branches[0]?.action.values).toEqual(['1.10'])
    expect(encodeProgress(saga)).not.toContain('secret')
    expect(buildRequest(saga, 1, 'action').body).toBe('{"amount":1.10}')
  })

  it('Nothing of an answer is recorded if no request uses it', () => {
    const saga = after(startWithHold({}), succeed(0, '{"id":7}'))
    expect(saga.branches[0]?.action).not.toHaveProperty('values')
  })

  it('A record with values is read back as it was, and values are never shown', () => {
    const saga = after(startWithHold({ template: ID_OF_HOLD }), succeed(0, '{"id":"s3cr3t"}'))
    const decoded = decodeTransaction(buildRow(saga))
    expect(decoded).toEqual(saga)
    expect(JSON.stringify(viewTransaction(saga, 'submitted'))).not.toContain('s3cr3t')
  })

  it('The URL, the headers and the body of a request get the values', () => {
    const saga = after(
      startWithHold({
        action: { url: `${BANK}/holds/{id}?id={id}`, with: { id: ID_OF_HOLD } },
        template: { id: ID_OF_HOLD, all: { $from: 'hold' } },
        headers: { 'x-id': ID_OF_HOLD, y: 'z' },
      }),
      succeed(0, '{"id":"a b"}'),
    )
    expect(buildRequest(saga, 1, 'action')).toEqual({
      url: `${BANK}/holds/a%20b?id=a%20b`,
      body: '{"id":"a b","all":{"id":"a b"}}',
      contentType: 'application/json',
      headers: { 'x-id': 'a b', y: 'z' },
    })
  })

  it.each([
    ['no body', undefined],
    ['no JSON', '<html>'],
    ['another field', '{"no":1}'],
    ['a body that was cut', '{"id":7'],
    ['a value that is too large', JSON.stringify({ id: 'a'.repeat(KEPT_VALUE_BYTES_MAX - 1) })],
  ])('A saga turns around before it sends a request that lacks its value: %s', (_title, body) => {
    const saga = after(
      startWithHold({ template: ID_OF_HOLD }, { compensation: `${BANK}/undo` }),
      succeed(0, body),
    )
    expect(saga).toMatchObject({
      status: 'aborting',
      abort: {
        cause: 'value-unusable',
        branch: 1,
        branches: [0],
        reason: 'the value at "/id" in the answer of branch hold is missing',
      },
    })
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT).effects)).toBe(
      'call 01 compensate'.replace('01', '01'),
    )
    expect(saga.branches[1]?.action.attempts).toBe(0)
  })

  it('A JSON null is a value', () => {
    const saga = after(
      startWithHold({ template: { id: { ...ID_OF_HOLD, else: 1 } } }),
      succeed(0, '{"id":null}'),
    )
    expect(buildRequest(saga, 1, 'action').body).toBe('{"id":null}')
  })

  it('An else stands for a value that the answer lacks', () => {
    const saga = after(startWithHold({ template: { id: { ...ID_OF_HOLD, else: [1.5] } } }), succeed(0, '{}'))
    expect(buildRequest(saga, 1, 'action').body).toBe('{"id":[1.5]}')
  })

  it.each([
    [
      'an object in a URL',
      { action: { url: `${BANK}/{id}`, with: { id: ID_OF_HOLD } } },
      '{"id":{}}',
      'cannot stand in the URL',
    ],
    [
      'null in a URL',
      { action: { url: `${BANK}/{id}`, with: { id: ID_OF_HOLD } } },
      '{"id":null}',
      'cannot stand in the URL',
    ],
    [
      'two dots in a path',
      { action: { url: `${BANK}/{id}`, with: { id: ID_OF_HOLD } } },
      '{"id":".."}',
      'change the path',
    ],
    [
      'nothing in a path',
      { action: { url: `${BANK}/{id}`, with: { id: ID_OF_HOLD } } },
      '{"id":""}',
      'change the path',
    ],
    [
      'a long text in a URL',
      { action: { url: `${BANK}/{id}`, with: { id: ID_OF_HOLD } } },
      JSON.stringify({ id: 'a'.repeat(2048) }),
      'over 2048 characters',
    ],
    [
      'a line break in a header',
      { headers: { x: ID_OF_HOLD } },
      '{"id":"a\\r\\nb"}',
      'cannot stand in a header',
    ],
    ['a list in a header', { headers: { x: ID_OF_HOLD } }, '{"id":[]}', 'cannot stand in a header'],
    ['null in a header', { headers: { x: ID_OF_HOLD } }, '{"id":null}', 'cannot stand in a header'],
    [
      'a long text in a header',
      { headers: { x: ID_OF_HOLD } },
      JSON.stringify({ id: 'a'.repeat(9_000) }),
      'cannot stand in a header',
    ],
    [
      'a text whose end would be trimmed if it were cut',
      { headers: { x: ID_OF_HOLD } },
      JSON.stringify({ id: `a${' '.repeat(9_000)}b` }),
      'cannot stand in a header',
    ],
    [
      'texts that are too long together in headers',
      { headers: { x: ID_OF_HOLD, y: ID_OF_HOLD } },
      JSON.stringify({ id: 'a'.repeat(5_000) }),
      'over 8192 bytes',
    ],
    [
      'too many copies of a large value',
      { template: Array.from({ length: 5 }, () => ID_OF_HOLD) },
      JSON.stringify({ id: 'a'.repeat(PAYLOAD_BYTES_MAX / 4 - 100) }),
      `over ${PAYLOAD_BYTES_MAX} bytes`,
    ],
  ])('A saga turns around where a value cannot stand in its place: %s', (_title, next, body, reason) => {
    const saga = after(startWithHold(next), succeed(0, body))
    expect(saga.status === 'aborting' && saga.abort.reason).toContain(reason)
    expect(saga.status === 'aborting' && saga.abort.cause).toBe('value-unusable')
  })

  it('A value that is longer than what is left for the transaction counts as missing', () => {
    const large = JSON.stringify('a'.repeat(KEPT_VALUE_BYTES_MAX - 2))
    const count = KEPT_VALUES_BYTES_MAX / KEPT_VALUE_BYTES_MAX + 1
    const branches = Array.from({ length: count }, (_, position) => ({
      id: `b${position}`,
      action: `${BANK}/`,
    }))
    const output = branches.map(({ id }) => ({ $from: id }))
    let saga = startSaga({ branches, output })
    for (const position of branches.keys()) saga = after(saga, succeed(position, large))
    expect(saga.branches.map(({ action }) => action.values?.[0]?.length)).toEqual([
      ...Array.from({ length: count - 1 }, () => KEPT_VALUE_BYTES_MAX),
      undefined,
    ])
  })

  it('A saga turns around if the policy on targets refuses the URL with its values', () => {
    const next = { action: { url: `${BANK}/next?to={id}`, with: { id: ID_OF_HOLD } } }
    const calling = after(startWithHold(next), [...succeed(0, '{"id":"a&gid=1"}'), sent([1, 'action'])])
    const refused = transition(calling, answered(1, 'action', 'unknown', { error: 'bad-url' }), CREATED_AT)
    expect(refused.next).toMatchObject({ status: 'aborting', abort: { cause: 'value-unusable', branch: 1 } })
  })

  it('A value that is nested too deep counts as missing', () => {
    const deep = (levels: number) => `{"id":${'['.repeat(levels)}"[{"${']'.repeat(levels)}}`
    const next = { template: { id: { ...ID_OF_HOLD, else: 0 } } }
    expect(buildRequest(after(startWithHold(next), succeed(0, deep(32))), 1, 'action').body).toContain('[{')
    expect(buildRequest(after(startWithHold(next), succeed(0, deep(33))), 1, 'action').body).toBe('{"id":0}')
  })

  it.each([
    ['a key that reaches the prototype', '{"id":{"__proto__":{"a":1}}}'],
    ['such a key within a list', '{"id":[1,{"x":{"__proto__":1}}]}'],
    ['such a key in escapes', '{"id":{"\\u005f_proto_\\u005f":1}}'],
    ['the prototype of a constructor', '{"id":{"constructor":{"prototype":1}}}'],
  ])('S39: A value that other services refuse counts as missing: %s', (_, body) => {
    const next = { template: { id: { ...ID_OF_HOLD, else: 0 } } }
    expect(buildRequest(after(startWithHold(next), succeed(0, body)), 1, 'action').body).toBe('{"id":0}')
  })

  it('Words that only look like such keys are ordinary values', () => {
    const next = { template: { id: ID_OF_HOLD } }
    for (const id of ['{"constructor":1}', '["__proto__"]', '{"a":"__proto__"}', '{"prototype":{}}']) {
      const saga = after(startWithHold(next), succeed(0, `{"id":${id}}`))
      expect(buildRequest(saga, 1, 'action').body).toBe(`{"id":${id}}`)
    }
  })

  it('S40: Values in each other that are nested too deep are measured in milliseconds', () => {
    const levels = Array.from({ length: 32 }, (_, level) => level)
    const output = levels.map((level) => ({ $from: 'hold', at: '/a'.repeat(level) }))
    const many = `[${'[],'.repeat(21_000)}${'['.repeat(33)}${']'.repeat(33)}]`
    const body = levels.reduce((inner) => `{"a":${inner}}`, many)
    const calling = after(startSaga({ branches: [HOLD], output }), [sent([0, 'action'])])
    // The loop makes a measure that reads each value with a regular expression miss the bound by far.
    const before = process.cpuUsage()
    for (let time = 0; time < 40; time++) {
      const { next } = transition(calling, answered(0, 'action', 'success', { body }), CREATED_AT)
      expect((next as SagaTransaction).branches[0]?.action.values).toEqual(levels.map(() => null))
    }
    expect(readCpuMs(before)).toBeLessThan(CPU_MS_MAX)
  }, 60_000)

  it('S40: Values in each other with tens of thousands of objects and an escape are judged in milliseconds', () => {
    const levels = Array.from({ length: 30 }, (_, level) => level)
    const output = levels.map((level) => ({ $from: 'hold', at: '/0'.repeat(level) }))
    const body = `${'['.repeat(31)}${'{},'.repeat(21_000)}"\\u0061"${']'.repeat(31)}`
    const calling = after(startSaga({ branches: [HOLD], output }), [sent([0, 'action'])])
    // The loop makes a measure that parses and walks each value miss the bound by far.
    const before = process.cpuUsage()
    for (let time = 0; time < 40; time++) {
      const { next } = transition(calling, answered(0, 'action', 'success', { body }), CREATED_AT)
      const { values = [] } = (next as SagaTransaction).branches[0]?.action ?? {}
      // There is room for four of 63 KB.
      expect(values.filter((value) => value !== null)).toHaveLength(4)
    }
    expect(readCpuMs(before)).toBeLessThan(CPU_MS_MAX)
  }, 60_000)

  it('An output that is over the bound of a payload is null', () => {
    const output = Array.from({ length: 5 }, () => ({ $from: 'hold' }))
    const saga = after(
      startSaga({ branches: [HOLD], output }),
      succeed(0, JSON.stringify('a'.repeat(60_000))),
    )
    expect(viewTransaction(saga, 'succeeded').output).toBeNull()
  })

  it('The output of a saga that has succeeded is shown, with null for what it lacks', () => {
    const saga = after(
      startSaga({ branches: [HOLD], output: { id: ID_OF_HOLD, no: { $from: 'hold', at: '/no' } } }),
      succeed(0, '{"id":"h-1"}'),
    )
    expect(viewTransaction(saga, 'succeeded').output).toEqual({ id: 'h-1', no: null })
    // The success is not durable yet.
    expect(viewTransaction(saga, 'submitted')).not.toHaveProperty('output')
  })

  describe('Compensations', () => {
    const UNDO = {
      compensation: {
        url: `${BANK}/holds/{id}`,
        with: { id: { $from: 'hold', at: '/id', else: 'unknown' } },
        template: { id: ID_OF_HOLD, note: { $from: 'hold', at: '/note', else: '-' } },
        headers: { 'x-id': ID_OF_HOLD },
      },
    }

    it('A compensation gets what its own action answered', () => {
      const saga = after(startWithHold({}, UNDO), [...succeed(0, '{"id":"h-1"}'), { type: 'abort-asked' }])
      expect(buildRequest(saga, 0, 'compensate')).toEqual({
        url: `${BANK}/holds/h-1`,
        body: '{"id":"h-1","note":"-"}',
        contentType: 'application/json',
        headers: { 'x-id': 'h-1' },
      })
    })

    it('A compensation gets its else, null or no header for a value that is not known', () => {
      const saga = after(startWithHold({}, UNDO), [
        sent([0, 'action']),
        answered(0, 'action', 'unknown'),
        { type: 'abort-asked' },
      ])
      expect(buildRequest(saga, 0, 'compensate')).toEqual({
        url: `${BANK}/holds/unknown`,
        body: '{"id":null,"note":"-"}',
        contentType: 'application/json',
        headers: {},
      })
    })

    it.each([
      ['an object', '{"id":{}}'],
      ['null', '{"id":null}'],
      ['an empty text', '{"id":""}'],
      ['two dots', '{"id":".."}'],
      ['a lone surrogate', '{"id":"\\ud800"}'],
      ['a text that is too long', JSON.stringify({ id: 'a'.repeat(9_000) })],
    ])(
      'A compensation is sent with its else, and without a header, where a value cannot stand: %s',
      (_title, body) => {
        const saga = after(startWithHold({}, { ...UNDO, headers: { 'x-id': 'default' } }), [
          ...succeed(0, body),
          { type: 'abort-asked' },
        ])
        const request = buildRequest(saga, 0, 'compensate')
        expect(request.url).toBe(`${BANK}/holds/unknown`)
        expect(request.headers['x-id'] ?? '').not.toContain('default')
        expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT).effects)).toBe('call 01 compensate')
      },
    )

    it('S40: A hundred compensations with a large value in many places are found in milliseconds', () => {
      const url = `${BANK}/${'{id}'.repeat(32)}`
      const compensation = {
        url,
        with: { id: { $from: 'hold', else: 'x' } },
        headers: { x: { $from: 'hold' } },
      }
      const others = Array.from({ length: 99 }, (_, position) => ({
        id: `b${position}`,
        action: `${BANK}/next`,
        compensation,
        after: ['hold'],
      }))
      const large = JSON.stringify('é'.repeat(32_000))
      const events = [
        ...succeed(0, large),
        ...others.slice(1).flatMap((_, position) => succeed(position + 1)),
        { type: 'abort-asked' } as const,
      ]
      const before = process.cpuUsage()
      const saga = after(startSaga({ branches: [HOLD, ...others] }), events)
      const { effects } = transition(saga, { type: 'time' }, CREATED_AT)
      expect(readCpuMs(before)).toBeLessThan(CPU_MS_MAX)
      expect(effects.filter(({ type }) => type === 'call')).toHaveLength(98)
      expect(buildRequest(saga, 1, 'compensate').url).toBe(url.replaceAll('{id}', 'x'))
    }, 60_000)

    it('A header that is left out does not go out with the default of the whole saga either', () => {
      const branches = [{ ...HOLD, compensation: { url: `${BANK}/undo`, headers: { 'x-id': ID_OF_HOLD } } }]
      const saga = after(startSaga({ branches, headers: { 'x-id': 'default' } }), [
        sent([0, 'action']),
        answered(0, 'action', 'unknown'),
        { type: 'abort-asked' },
      ])
      expect(buildRequest(saga, 0, 'compensate').headers).toEqual({})
    })

    it.each(['a\nb', 'x&op=compensate', 'https://shop.test/thanks?gid=42', '%2525252567id'])(
      'S39: A value that would make the URL of a compensation one that is refused gives way to the else: %j',
      (id) => {
        const undo = { url: `${BANK}/undo?id={id}`, with: { id: { ...ID_OF_HOLD, else: 'none' } } }
        const saga = after(startWithHold({}, { compensation: undo }), [
          ...succeed(0, JSON.stringify({ id })),
          { type: 'abort-asked' },
        ])
        expect(buildRequest(saga, 0, 'compensate').url).toBe(`${BANK}/undo?id=none`)
      },
    )

    it.each([
      ['a line break', 'a\nb'],
      ['an object', {}],
      ['3,000 characters', 'n'.repeat(3_000)],
      ['240 signs of three bytes, which are too many once they are encoded', '漢'.repeat(240)],
      ['an identity', 'x&op=compensate'],
    ])('A value that cannot stand in the URL of a compensation takes no id along: %s', (_title, note) => {
      const noteOfHold = { $from: 'hold', at: '/note', else: '-' }
      const undo = {
        url: `${BANK}/holds/{id}?note={note}`,
        with: { id: { ...ID_OF_HOLD, else: 'none' }, note: noteOfHold },
      }
      const saga = after(startWithHold({}, { compensation: undo }), [
        ...succeed(0, JSON.stringify({ id: 'h-1', note })),
        { type: 'abort-asked' },
      ])
      expect(buildRequest(saga, 0, 'compensate').url).toBe(`${BANK}/holds/h-1?note=-`)
    })

    it('The longest values of a URL that is too long give way first', () => {
      const names = ['id', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
      const places = Object.fromEntries(names.map((at) => [at, { $from: 'hold', at: `/${at}`, else: '-' }]))
      const undo = { url: `${BANK}/${names.map((name) => `{${name}}`).join('/')}`, with: places }
      const answer = Object.fromEntries(names.map((at, index) => [at, 'n'.repeat(240 + index)]))
      const saga = after(startWithHold({}, { compensation: undo }), [
        ...succeed(0, JSON.stringify({ ...answer, id: 'h-1' })),
        { type: 'abort-asked' },
      ])
      const segments = new URL(buildRequest(saga, 0, 'compensate').url).pathname.split('/')
      expect(segments.map((segment) => segment.length)).toEqual([
        0, 3, 241, 242, 243, 244, 245, 246, 247, 248, 1,
      ])
    })

    it('A header of a compensation has its else in place of a value that cannot stand there', () => {
      const undo = {
        url: `${BANK}/undo`,
        headers: { 'x-note': { $from: 'hold', at: '/note', else: 'none' } },
      }
      for (const note of ['a\nb', {}]) {
        const saga = after(startWithHold({}, { compensation: undo }), [
          ...succeed(0, JSON.stringify({ note })),
          { type: 'abort-asked' },
        ])
        expect(buildRequest(saga, 0, 'compensate').headers).toEqual({ 'x-note': 'none' })
      }
    })

    it('A compensation whose headers have no room for all values goes out without the longest ones', () => {
      const headers = Object.fromEntries(
        ['id', 'note', 'more'].map((at) => [`x-${at}`, { $from: 'hold', at: `/${at}` }]),
      )
      const undo = { url: `${BANK}/undo`, headers }
      const answer = { id: 'h-1', note: 'n'.repeat(4_900), more: 'm'.repeat(4_800) }
      const saga = after(startWithHold({}, { compensation: undo }), [
        ...succeed(0, JSON.stringify(answer)),
        { type: 'abort-asked' },
      ])
      expect(buildRequest(saga, 0, 'compensate').headers).toEqual({ 'x-id': 'h-1', 'x-more': answer.more })
    })

    it('A compensation whose URL the policy refuses with its values asks for a person at once', () => {
      const saga = after(startWithHold({}, UNDO), [...succeed(0, '{"id":"a"}'), { type: 'abort-asked' }])
      const calling = after(saga, [sent([0, 'compensate'])])
      const refused = transition(
        calling,
        answered(0, 'compensate', 'unknown', { error: 'bad-url' }),
        CREATED_AT,
      )
      expect(refused.next.attention).toContain('compensation of branch hold cannot be sent')
    })

    it('A value that arrives after the abort decision is a strong change, and the compensation has it', () => {
      const calling = after(startWithHold({}, UNDO), [sent([0, 'action']), { type: 'abort-asked' }])
      const late = transition(calling, answered(0, 'action', 'success', { body: '{"id":"h-1"}' }), CREATED_AT)
      expect(late.durability).toBe('strong')
      expect(buildRequest(late.next as SagaTransaction, 0, 'compensate').url).toBe(`${BANK}/holds/h-1`)
    })

    it('A compensation waits for a call under way whose answer it may use', () => {
      const branches = [
        { id: 'rate', action: `${BANK}/rates` },
        { id: 'hold', action: `${BANK}/holds`, after: [] },
        {
          id: 'memo',
          action: `${BANK}/memos`,
          after: ['hold', 'rate'],
          compensation: { url: `${BANK}/memos/undo`, template: { $from: 'rate' } },
        },
      ]
      const going = after(startSaga({ branches }), [
        ...succeed(0, '1.10'),
        ...succeed(1),
        sent([2, 'action']),
      ])
      // Another owner had the call of rate under way, as far as this record knows.
      const [rate] = going.branches
      const calling = {
        ...rate,
        action: { ...rate?.action, state: 'calling' },
      } as SagaTransaction['branches'][0]
      const waiting = after({ ...going, branches: [calling, ...going.branches.slice(1)] }, [
        answered(2, 'action', 'failure'),
      ])
      expect(effectsText(transition(waiting, { type: 'time' }, CREATED_AT).effects)).toBe('-')
    })

    it('A compensation that cannot be built waits for a person, and is never left out', () => {
      const undo = {
        compensation: { url: `${BANK}/undo`, template: Array.from({ length: 5 }, () => ({ $from: 'hold' })) },
      }
      const large = JSON.stringify('a'.repeat(PAYLOAD_BYTES_MAX / 4 - 100))
      const going = after(startWithHold({}, undo), succeed(0, large))
      const stuck = transition(going, { type: 'abort-asked' }, CREATED_AT)
      const marked = transition(stuck.next, { type: 'time' }, CREATED_AT)
      expect(marked.durability).toBe('strong')
      expect(marked.next.attention).toContain('compensation of branch hold cannot be sent')
      expect(marked.effects).toEqual([{ type: 'wake-at', at: 8_640_000_000_000_000 }])
      expect(marked.next.status).toBe('aborting')
    })

    it('A compensation given as a text gets what the action gets', () => {
      const saga = after(startWithHold({}, { compensation: `${BANK}/undo` }), [
        ...succeed(0),
        { type: 'abort-asked' },
      ])
      expect(buildRequest(saga, 0, 'compensate')).toMatchObject({
        url: `${BANK}/undo`,
        body: '{"cents":1250}',
      })
    })
  })

  it('Every attempt builds the same request, also after the row was read by another node', () => {
    const saga = after(startWithHold({ template: { id: ID_OF_HOLD } }), [
      ...succeed(0, '{"id":7}'),
      sent([1, 'action']),
      answered(1, 'action', 'unknown'),
    ])
    const claimed = transition(
      decodeTransaction(buildRow(saga)),
      { type: 'claimed', epoch: 2, sentUnknown: true },
      CREATED_AT,
    )
    expect(buildRequest(claimed.next as SagaTransaction, 1, 'action')).toEqual(
      buildRequest(saga, 1, 'action'),
    )
  })

  it('A chain of producers runs to its end, and each user gets the value of its own producer', () => {
    const branches = Array.from({ length: 5 }, (_, position) => ({
      id: `b${position}`,
      action: `${BANK}/b${position}`,
      ...(position === 0 ? {} : { template: { $from: `b${position - 1}` } }),
    }))
    let saga = startSaga({ branches })
    for (const position of branches.keys()) {
      expect(buildRequest(saga, position, 'action').body).toBe(position === 0 ? '{}' : String(position - 1))
      saga = after(saga, succeed(position, String(position)))
    }
    expect(saga.status).toBe('succeeded')
  })

  it('A saga without values stores what it stored before there were any', () => {
    const saga = answerNext(startWithHold({}, { compensation: `${BANK}/undo` }), 'success')
    expect(encodeProgress(saga)).toBe(
      `{"b":[{"a":{"state":"succeeded","attempts":1,"startedAt":${CREATED_AT},"result":"success","endedAt":${CREATED_AT},"durationMs":7,"statusCode":200}}]}`,
    )
    expect(JSON.stringify(saga.definition)).toBe(
      '{"kind":"saga","branches":[{"id":"hold","body":"{\\"cents\\":1250}","contentType":"application/json","headers":{},"action":"http://bank.test/holds","compensation":"http://bank.test/undo","after":[]},{"id":"next","body":"{}","contentType":"application/json","headers":{},"action":"http://bank.test/next","after":[0]}],"retry":{"initialMs":200,"factor":2,"capMs":60000,"jitter":0,"limit":null},"timeoutMs":10000,"checkpointMs":1000}',
    )
  })
})
