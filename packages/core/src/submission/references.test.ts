import {
  INPUT_BYTES_MAX,
  PAYLOAD_BYTES_MAX,
  POINTER_LENGTH_MAX,
  REFERENCES_MAX,
  URL_LENGTH_MAX,
  URL_PLACES_MAX,
} from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { readCpuMs } from '../../test/read-cpu-ms.ts'
import { accepted, listFaults, withBranch } from '../../test/submissions.ts'

const HOLD = { id: 'hold', action: 'http://bank.test/holds' }
const NEXT = { id: 'next', action: 'http://bank.test/next' }
const FROM_HOLD = { $from: 'hold', at: '/id' }
const CPU_MS_MAX = 2_000

function withHold(fields: Readonly<Record<string, unknown>>, saga: Readonly<Record<string, unknown>> = {}) {
  return { ...saga, branches: [HOLD, { ...NEXT, ...fields }] }
}

function withPlace(url: string, more: Readonly<Record<string, unknown>> = {}) {
  return withHold({ action: { url, with: { id: FROM_HOLD, ...more } } })
}

const TEMPLATE = '/branches/1/template'

/** Each entry has a title, a body and the expected faults. */
const BAD: readonly (readonly [string, unknown, ...string[]])[] = [
  [
    'a template beside a payload',
    withBranch({ template: 1, payload: 1 }),
    'SAGA_INVALID /branches/0/template',
  ],
  ['a template beside a body', withBranch({ template: 1, body: '' }), 'SAGA_INVALID /branches/0/template'],
  [
    'a $ name that means nothing',
    withHold({ template: { $form: 'hold' } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'both $from and $input',
    withHold({ template: { $from: 'hold', $input: '' } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'a $literal with a neighbour',
    withHold({ template: { $literal: 1, a: 2 } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'a reference with an unknown field',
    withHold({ template: { x: { ...FROM_HOLD, path: '/a' } } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/x/path`,
  ],
  [
    'a $from that is a number',
    withHold({ template: { $from: 1 } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/$from`,
  ],
  [
    'a pointer without a slash',
    withHold({ template: { $from: 'hold', at: 'id' } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/at`,
  ],
  [
    'a pointer with a bare ~',
    withHold({ template: { $from: 'hold', at: '/~' } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/at`,
  ],
  [
    'a pointer that is too long',
    withHold({ template: { $from: 'hold', at: `/${'a'.repeat(POINTER_LENGTH_MAX)}` } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/at`,
  ],
  [
    'an $input that the input lacks',
    withHold({ template: { $input: '/b' } }, { input: { a: 1 } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'an $input without an input',
    withHold({ template: { $input: '' } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'an $input that an array only inherits',
    withHold({ template: { $input: '/length' } }, { input: [] }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}`,
  ],
  [
    'too many references',
    withHold({ template: Array.from({ length: REFERENCES_MAX + 1 }, () => FROM_HOLD) }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/${REFERENCES_MAX}`,
  ],
  [
    'a branch that is not there',
    withHold({ template: { $from: 'x' } }),
    `SAGA_REFERENCE_UNKNOWN ${TEMPLATE}/$from`,
  ],
  ['a sibling', withHold({ after: [], template: FROM_HOLD }), `SAGA_REFERENCE_NOT_BEFORE ${TEMPLATE}/$from`],
  [
    'an action that refers to itself',
    withBranch({ id: 'a', template: { $from: 'a' } }),
    'SAGA_REFERENCE_NOT_BEFORE /branches/0/template/$from',
  ],
  [
    'a compensation that refers to a later branch',
    {
      branches: [
        { ...HOLD, compensation: { url: 'http://bank.test/undo', template: { $from: 'next' } } },
        NEXT,
      ],
    },
    'SAGA_REFERENCE_NOT_BEFORE /branches/0/compensation/template/$from',
  ],
  [
    'a compensation as a text beside a template',
    withBranch({ template: {}, compensation: 'http://bank.test/undo' }),
    'SAGA_REFERENCE_INVALID /branches/0/compensation',
  ],
  [
    "a compensation's URL value without an else",
    withHold({ compensation: { url: 'http://bank.test/{id}', with: { id: FROM_HOLD } } }),
    'SAGA_REFERENCE_NEEDS_ELSE /branches/1/compensation/with/id',
  ],
  [
    "a compensation's URL value whose else is null",
    withHold({ compensation: { url: 'http://bank.test/{id}', with: { id: { ...FROM_HOLD, else: null } } } }),
    'SAGA_REFERENCE_INVALID /branches/1/compensation/with/id',
  ],
  ...['', '..', 'a\ud800', 'a'.repeat(URL_LENGTH_MAX)].map(
    (otherwise) =>
      [
        `an else that cannot stand in its URL (${JSON.stringify(otherwise.slice(0, 9))})`,
        withHold({
          action: { url: 'http://bank.test/{id}', with: { id: { ...FROM_HOLD, else: otherwise } } },
        }),
        'SAGA_REFERENCE_INVALID /branches/1/action/with',
      ] as const,
  ),
  [
    'an else that cannot stand in a header',
    withHold({ headers: { x: { ...FROM_HOLD, else: 'é' } } }),
    'SAGA_REFERENCE_INVALID /branches/1/headers/x',
  ],
  [
    'a header that is given twice, once as a reference',
    withHold({ headers: { 'X-A': 'text', 'x-a': FROM_HOLD } }),
    'SAGA_HEADER_INVALID /branches/1/headers/x-a',
  ],
  [
    'a place whose name begins with a digit',
    withHold({ action: { url: 'http://bank.test/{1id}', with: {} } }),
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    'a pointer of too many steps',
    withHold({ template: { $from: 'hold', at: '/a'.repeat(33) } }),
    `SAGA_REFERENCE_INVALID ${TEMPLATE}/at`,
  ],
  [
    'an unknown field of a compensation',
    withBranch({ compensation: { url: 'http://bank.test/undo', retry: {} } }),
    'SAGA_UNKNOWN_FIELD /branches/0/compensation/retry',
  ],
  [
    'a place without a value',
    withHold({ action: { url: 'http://bank.test/{id}' } }),
    'SAGA_REFERENCE_INVALID /branches/1/action/with',
  ],
  [
    'a value without a place',
    withPlace('http://bank.test/{id}', { other: FROM_HOLD }),
    'SAGA_REFERENCE_INVALID /branches/1/action/with/other',
  ],
  ['a place in a host', withPlace('http://{id}.test/'), 'SAGA_URL_INVALID /branches/1/action/url'],
  ['a place in a port', withPlace('http://bank.test:{id}/'), 'SAGA_URL_INVALID /branches/1/action/url'],
  [
    'a place in a scheme',
    withPlace('{id}://bank.test/'),
    'SAGA_URL_INVALID /branches/1/action/url',
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    'a place behind one slash',
    withPlace('http:/{id}/'),
    'SAGA_URL_INVALID /branches/1/action/url',
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    'a place behind a backslash',
    withPlace('http://bank.test\\{id}/'),
    'SAGA_URL_INVALID /branches/1/action/url',
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    'a line break in the scheme',
    withPlace('ht\ntp:/{id}/'),
    'SAGA_URL_INVALID /branches/1/action/url',
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    "a place in a parameter's name",
    withPlace('http://bank.test/?{id}=1'),
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  ['a place in a fragment', withPlace('http://bank.test/#{id}'), 'SAGA_URL_INVALID /branches/1/action/url'],
  [
    'a brace that is no place',
    withPlace('http://bank.test/{id}/{'),
    'SAGA_URL_INVALID /branches/1/action/url',
  ],
  [
    'an input that would leave the path',
    { input: '..', branches: [{ action: { url: 'http://bank.test/a/{id}', with: { id: { $input: '' } } } }] },
    'SAGA_REFERENCE_INVALID /branches/0/action/with',
  ],
  [
    'an input that is no text for a URL',
    { input: {}, branches: [{ action: { url: 'http://bank.test/a/{id}', with: { id: { $input: '' } } } }] },
    'SAGA_REFERENCE_INVALID /branches/0/action/with/id',
  ],
  [
    'a header that is no reference',
    withHold({ headers: { x: {} } }),
    'SAGA_REFERENCE_INVALID /branches/1/headers/x',
  ],
  [
    'a reserved header with a reference',
    withHold({ headers: { 'Counterstep-Gid': FROM_HOLD } }),
    'SAGA_HEADER_INVALID /branches/1/headers/Counterstep-Gid',
  ],
  [
    'a header with a line break from the input',
    { input: 'a\r\nb', branches: [{ action: 'http://bank.test/', headers: { x: { $input: '' } } }] },
    'SAGA_HEADER_INVALID /branches/0/headers/x',
  ],
  [
    'an output that refers to nothing',
    { branches: [HOLD], output: { $from: 'x' } },
    'SAGA_REFERENCE_UNKNOWN /output/$from',
  ],
  [
    'an input that is too large',
    { branches: [HOLD], input: 'a'.repeat(INPUT_BYTES_MAX) },
    'SAGA_PAYLOAD_TOO_LARGE /input',
  ],
  [
    'a template that is too large with the input in it',
    withHold({ template: [{ $input: '' }, { $input: '' }] }, { input: 'a'.repeat(PAYLOAD_BYTES_MAX / 2) }),
    `SAGA_PAYLOAD_TOO_LARGE ${TEMPLATE}`,
  ],
  ['an input for a message', { kind: 'message', branches: [HOLD], input: 1 }, 'SAGA_UNKNOWN_FIELD /input'],
  [
    'a template in a message',
    { kind: 'message', branches: [{ ...HOLD, template: 1 }] },
    'SAGA_UNKNOWN_FIELD /branches/0/template',
  ],
]

describe('References in a submit', () => {
  it.each(BAD)('A submit with %s is refused', (_title, body, ...faults) => {
    expect(listFaults(body)).toEqual(faults)
  })

  it('A body full of references is refused without reading them all', () => {
    const names = Array.from({ length: 30_000 }, (_, index) => `x${index}`)
    const many = Object.fromEntries(names.map((name) => [name, { $from: 'hold', at: `/${name}` }]))
    for (const [fields, fault] of [
      [{ template: many }, `SAGA_REFERENCE_INVALID /branches/1/template/x${REFERENCES_MAX}`],
      [{ headers: many }, 'SAGA_HEADER_INVALID /branches/1/headers'],
    ] as const) {
      const before = process.cpuUsage()
      const faults = listFaults(withHold(fields))
      const tookMs = readCpuMs(before)
      expect(faults).toContain(fault)
      expect(tookMs).toBeLessThan(CPU_MS_MAX)
    }
  })

  it('Hundreds of copies of a large input are refused before they take memory', () => {
    const input = 'a'.repeat(INPUT_BYTES_MAX - 2)
    const template = Array.from({ length: REFERENCES_MAX }, () => ({ $input: '' }))
    const branches = [{ ...NEXT, template }]
    expect(listFaults({ input, branches })).toContain('SAGA_PAYLOAD_TOO_LARGE /branches/0/template/4')
  })

  it('S40: A large else or input in hundreds of places of a URL is refused before it takes seconds', () => {
    const url = `http://bank.test/${'{id}'.repeat(URL_PLACES_MAX)}`
    const large = 'é'.repeat(120_000)
    const open = withHold({ action: { url, with: { id: { ...FROM_HOLD, else: large.repeat(4) } } } })
    expect(listFaults(open)).toEqual(['SAGA_REFERENCE_INVALID /branches/1/action/with'])
    const fixed = withHold({ action: { url, with: { id: { $input: '' } } } }, { input: large })
    expect(listFaults(fixed)).toEqual(['SAGA_URL_INVALID /branches/1/action/url'])
  }, 2_000)

  it('S40: A URL has 32 places at most, and is refused at its pointer beyond that', () => {
    const build = (places: number) => `http://bank.test/${'{id}'.repeat(places)}`
    const withAction = (places: number) =>
      withHold({ action: { url: build(places), with: { id: FROM_HOLD } } })
    expect(listFaults(withAction(URL_PLACES_MAX))).toEqual([])
    expect(listFaults(withAction(URL_PLACES_MAX + 1))).toEqual([
      'SAGA_REFERENCE_INVALID /branches/1/action/url',
    ])
    const compensation = { url: build(URL_PLACES_MAX + 1), with: { id: { ...FROM_HOLD, else: 'x' } } }
    expect(listFaults(withHold({ compensation }))).toEqual([
      'SAGA_REFERENCE_INVALID /branches/1/compensation/url',
    ])
  })

  it('S40: A URL with tens of thousands of places is refused before they are compared with the values', () => {
    const names = Array.from({ length: 45_000 }, (_, index) => `p${index}`)
    const url = `http://bank.test/${names.map((name) => `{${name}}`).join('')}`
    const values = Object.fromEntries(names.map((name) => [`q${name}`, FROM_HOLD]))
    const before = process.cpuUsage()
    const faults = listFaults(withHold({ action: { url, with: values } }))
    const tookMs = readCpuMs(before)
    expect(faults).toEqual(['SAGA_URL_INVALID /branches/1/action/url'])
    expect(tookMs).toBeLessThan(CPU_MS_MAX)
  })

  it('A payload is delivered as it stands, even if it looks like a reference', () => {
    const { definition } = accepted(withHold({ payload: { a: FROM_HOLD } }))
    expect(definition.branches[1]?.body).toBe('{"a":{"$from":"hold","at":"/id"}}')
    expect(definition.values).toBeUndefined()
  })

  it('References to the input are replaced at once, so that such a request is fixed', () => {
    const { definition } = accepted({
      input: { cents: 1250, ref: 'o/17' },
      branches: [
        {
          action: {
            url: 'http://bank.test/{ref}?c={cents}',
            with: { ref: { $input: '/ref' }, cents: { $input: '/cents' } },
          },
          template: { cents: { $input: '/cents' }, all: { $input: '' }, no: { $input: '/no', else: [] } },
          headers: { 'X-Ref': { $input: '/ref' }, y: 'z' },
        },
      ],
    })
    expect(definition.branches[0]).toMatchObject({
      action: 'http://bank.test/o%2F17?c=1250',
      body: '{"cents":1250,"all":{"cents":1250,"ref":"o/17"},"no":[]}',
      contentType: 'application/json',
      headers: { 'x-ref': 'o/17', y: 'z' },
    })
    expect(definition.branches[0]).not.toHaveProperty('actionTemplate')
    // An older version would not know what the request means, so the row is of the newer format all the same.
    expect(definition.values).toEqual({ kept: [[]] })
  })

  it('Names that every object inherits may be names of places, of headers and of members', () => {
    const { definition } = accepted({
      branches: [
        HOLD,
        {
          action: { url: 'http://bank.test/{constructor}', with: { constructor: FROM_HOLD } },
          headers: JSON.parse('{"__proto__":{"$from":"hold","at":"/id"},"constructor":"c"}') as object,
          template: JSON.parse('{"__proto__":{"$from":"hold"}}') as object,
        },
      ],
    })
    const { actionTemplate, headers } = definition.branches[1] ?? {}
    expect(JSON.stringify(actionTemplate)).toBe(
      '{"headers":{"__proto__":{"from":0,"value":0}},"body":["{\\"__proto__\\":",{"from":0,"value":1},"}"],"url":{"constructor":{"from":0,"value":0}}}',
    )
    expect(JSON.stringify(headers)).toBe('{"constructor":"c"}')
  })

  it('Each value that is referred to is kept once, in the order in which it is first named', () => {
    const { definition } = accepted(
      withHold(
        {
          action: { url: 'http://bank.test/{id}/x', with: { id: FROM_HOLD } },
          template: { $from: 'hold' },
          headers: { 'x-id': FROM_HOLD },
          compensation: { url: 'http://bank.test/undo', template: { own: { $from: 'next', at: '/n' } } },
        },
        { output: { id: FROM_HOLD } },
      ),
    )
    expect(definition.values).toEqual({
      kept: [['/id', ''], ['/n']],
      output: ['{"id":', { from: 0, value: 0 }, '}'],
    })
    expect(definition.branches[1]).toMatchObject({
      action: 'http://bank.test/{id}/x',
      actionTemplate: {
        url: { id: { from: 0, value: 0 } },
        body: [{ from: 0, value: 1 }],
        headers: { 'x-id': { from: 0, value: 0 } },
      },
      compensation: 'http://bank.test/undo',
      compensationContent: { template: { body: ['{"own":', { from: 1, value: 0 }, '}'] } },
    })
  })

  it('A compensation that is an object has a content of its own, which is {} by default', () => {
    const body = withBranch({
      payload: { a: 1 },
      headers: { x: '1' },
      compensation: { url: 'http://bank.test/undo' },
    })
    const { definition } = accepted({ ...body, headers: { common: 'c' } })
    expect(definition.branches[0]?.compensationContent).toEqual({
      body: '{}',
      contentType: 'application/json',
      headers: { common: 'c' },
    })
  })

  it('{"$literal": x} delivers x as it stands, however it looks', () => {
    const { definition } = accepted(withBranch({ template: { a: { $literal: { $from: 'x' } } } }))
    expect(definition.branches[0]?.body).toBe('{"a":{"$from":"x"}}')
  })
})
