import {
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  GID_LENGTH_MAX,
  JSON_DEPTH_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  TIMEOUT_MS_MAX,
} from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { RETRY } from '../../test/sagas.ts'
import {
  accepted,
  BRANCH,
  checkUrl,
  DEFAULTS,
  listFaults,
  parse,
  withBranch,
  withFields,
} from '../../test/submissions.ts'
import { FAULTS_MAX } from './faults.ts'
import { parseSubmission } from './parse-submission.ts'

const A = { id: 'a', ...BRANCH }
const B = { id: 'b', ...BRANCH }

/** Each entry has a title, a body and the expected faults. */
const BAD: readonly (readonly [string, unknown, ...string[]])[] = [
  ['null', null, 'SAGA_INVALID '],
  ['a list', [], 'SAGA_INVALID '],
  ['a text', 'saga', 'SAGA_INVALID '],
  ['a number', 7, 'SAGA_INVALID '],
  ['an empty object', {}, 'SAGA_NO_BRANCHES /branches'],
  ['no branches', { branches: [] }, 'SAGA_NO_BRANCHES /branches'],
  ['branches that are no list', { branches: {} }, 'SAGA_INVALID /branches'],
  ['branches that are null', { branches: null }, 'SAGA_INVALID /branches'],
  ['a branch that is null', { branches: [BRANCH, null] }, 'SAGA_INVALID /branches/1'],
  ['a branch that is a text', { branches: ['http://bank.test/'] }, 'SAGA_INVALID /branches/0'],
  ['an unknown field', withFields({ colour: 'red' }), 'SAGA_UNKNOWN_FIELD /colour'],
  ['an unknown field with a slash', withFields({ 'a/b~c': 1 }), 'SAGA_UNKNOWN_FIELD /a~1b~0c'],
  [
    'an unknown field of a branch',
    withBranch({ compensate: 'x' }),
    'SAGA_UNKNOWN_FIELD /branches/0/compensate',
  ],
  ['a kind of another day', withFields({ kind: 'xa' }), 'SAGA_KIND_UNSUPPORTED /kind'],
  ['a kind that is null', withFields({ kind: null }), 'SAGA_KIND_UNSUPPORTED /kind'],
  ['a gid that is a number', withFields({ gid: 7 }), 'SAGA_GID_INVALID /gid'],
  ['a gid that is null', withFields({ gid: null }), 'SAGA_GID_INVALID /gid'],
  ['a gid with a space', withFields({ gid: 'a b' }), 'SAGA_GID_INVALID /gid'],
  ['an ack of another kind', withFields({ ack: 'none' }), 'SAGA_ACK_INVALID /ack'],
  ['an ack that is null', withFields({ ack: null }), 'SAGA_ACK_INVALID /ack'],
  ['a branch without an action', { branches: [{}] }, 'SAGA_URL_INVALID /branches/0/action'],
  ['an action that is null', withBranch({ action: null }), 'SAGA_URL_INVALID /branches/0/action'],
  ['an empty action', withBranch({ action: '' }), 'SAGA_URL_INVALID /branches/0/action'],
  ['an ftp URL', withBranch({ action: 'ftp://bank.test/' }), 'SAGA_URL_INVALID /branches/0/action'],
  [
    'a compensation that is null',
    withBranch({ compensation: null }),
    'SAGA_URL_INVALID /branches/0/compensation',
  ],
  [
    'a compensation to a file',
    withBranch({ compensation: 'file:///a' }),
    'SAGA_URL_INVALID /branches/0/compensation',
  ],
  ['an id that is a number', withBranch({ id: 1 }), 'SAGA_BRANCH_ID_INVALID /branches/0/id'],
  ['an id that is empty', withBranch({ id: '' }), 'SAGA_BRANCH_ID_INVALID /branches/0/id'],
  ['an id with a slash', withBranch({ id: 'a/b' }), 'SAGA_BRANCH_ID_INVALID /branches/0/id'],
  ['an id given twice', { branches: [A, B, A] }, 'SAGA_BRANCH_ID_DUPLICATE /branches/2/id'],
  [
    'an id that is another one’s default',
    { branches: [{ ...BRANCH, id: '02' }, BRANCH] },
    'SAGA_BRANCH_ID_DUPLICATE /branches/1/id',
  ],
  ['an after that is a text', withBranch({ after: '01' }), 'SAGA_INVALID /branches/0/after'],
  ['an after that is null', withBranch({ after: null }), 'SAGA_INVALID /branches/0/after'],
  ['an after with a number', withBranch({ after: [1] }), 'SAGA_INVALID /branches/0/after'],
  [
    'an after that names no branch',
    { branches: [A, { ...B, after: ['a', 'c'] }] },
    'SAGA_AFTER_UNKNOWN /branches/1/after/1',
  ],
  ['a branch after itself', withBranch({ after: ['01'] }), 'SAGA_AFTER_CYCLE /branches/0/after'],
  [
    'a cycle of two',
    {
      branches: [
        { ...A, after: ['b'] },
        { ...B, after: ['a'] },
      ],
    },
    'SAGA_AFTER_CYCLE /branches/0/after',
  ],
  [
    'a cycle through a default',
    { branches: [{ ...A, after: ['b'] }, B] },
    'SAGA_AFTER_CYCLE /branches/0/after',
  ],
  [
    'a cycle behind a good branch',
    { branches: [A, { ...B, after: ['a', 'c'] }, { ...BRANCH, id: 'c', after: ['b'] }] },
    'SAGA_AFTER_CYCLE /branches/1/after',
  ],
  ['a body that is a number', withBranch({ body: 7 }), 'SAGA_INVALID /branches/0/body'],
  ['a body that is null', withBranch({ body: null }), 'SAGA_INVALID /branches/0/body'],
  ['a body with half a pair', withBranch({ body: 'a\ud800b' }), 'SAGA_INVALID /branches/0/body'],
  ['a body beside a payload', withBranch({ body: 'a', payload: null }), 'SAGA_INVALID /branches/0/body'],
  [
    'a content type without a body',
    withBranch({ contentType: 'text/plain' }),
    'SAGA_INVALID /branches/0/contentType',
  ],
  [
    'a content type of two lines',
    withBranch({ body: 'a', contentType: 'a\r\nb: c' }),
    'SAGA_HEADER_INVALID /branches/0/contentType',
  ],
  [
    'an empty content type',
    withBranch({ body: 'a', contentType: '' }),
    'SAGA_HEADER_INVALID /branches/0/contentType',
  ],
  [
    'a content type that is null',
    withBranch({ body: 'a', contentType: null }),
    'SAGA_HEADER_INVALID /branches/0/contentType',
  ],
  ['headers that are a list', withFields({ headers: [] }), 'SAGA_HEADER_INVALID /headers'],
  ['headers that are null', withBranch({ headers: null }), 'SAGA_HEADER_INVALID /branches/0/headers'],
  ['a header name with a space', withFields({ headers: { 'a b': 'c' } }), 'SAGA_HEADER_INVALID /headers/a b'],
  ['an empty header name', withFields({ headers: { '': 'c' } }), 'SAGA_HEADER_INVALID /headers/'],
  [
    'a header name with a colon',
    withBranch({ headers: { 'a:': 'c' } }),
    'SAGA_HEADER_INVALID /branches/0/headers/a:',
  ],
  ['a header name that is not ASCII', withFields({ headers: { ä: 'c' } }), 'SAGA_HEADER_INVALID /headers/ä'],
  [
    'a header value of two lines',
    withFields({ headers: { a: 'b\r\nc: d' } }),
    'SAGA_HEADER_INVALID /headers/a',
  ],
  [
    'a header value with a null byte',
    withFields({ headers: { a: '\u0000' } }),
    'SAGA_HEADER_INVALID /headers/a',
  ],
  ['a header value that is not ASCII', withFields({ headers: { a: 'ä' } }), 'SAGA_HEADER_INVALID /headers/a'],
  ['a header value that is a number', withFields({ headers: { a: 1 } }), 'SAGA_HEADER_INVALID /headers/a'],
  [
    'a header given twice',
    withFields({ headers: { 'X-A': '1', 'x-a': '2' } }),
    'SAGA_HEADER_INVALID /headers/x-a',
  ],
  [
    'a header that the connection owns',
    withFields({ headers: { Host: 'a' } }),
    'SAGA_HEADER_INVALID /headers/Host',
  ],
  [
    'a length of one’s own',
    withFields({ headers: { 'Content-Length': '1' } }),
    'SAGA_HEADER_INVALID /headers/Content-Length',
  ],
  [
    'an encoding of one’s own',
    withFields({ headers: { 'transfer-encoding': 'chunked' } }),
    'SAGA_HEADER_INVALID /headers/transfer-encoding',
  ],
  [
    'a header of ours',
    withFields({ headers: { 'Counterstep-Attempt': '1' } }),
    'SAGA_HEADER_INVALID /headers/Counterstep-Attempt',
  ],
  [
    'a header for a proxy',
    withFields({ headers: { 'proxy-authorization': 'a' } }),
    'SAGA_HEADER_INVALID /headers/proxy-authorization',
  ],
  ['a retry that is null', withFields({ retry: null }), 'SAGA_RETRY_INVALID /retry'],
  ['a retry that is a number', withBranch({ retry: 3 }), 'SAGA_RETRY_INVALID /branches/0/retry'],
  ['an unknown field of retry', withFields({ retry: { times: 3 } }), 'SAGA_UNKNOWN_FIELD /retry/times'],
  ['a first wait of nothing', withFields({ retry: { initialMs: 0 } }), 'SAGA_RETRY_INVALID /retry/initialMs'],
  [
    'a first wait with a fraction',
    withFields({ retry: { initialMs: 0.5 } }),
    'SAGA_RETRY_INVALID /retry/initialMs',
  ],
  [
    'a cap below the first wait',
    withFields({ retry: { initialMs: 10, capMs: 9 } }),
    'SAGA_RETRY_INVALID /retry/capMs',
  ],
  [
    'a cap below the default first wait',
    withFields({ retry: { capMs: 199 } }),
    'SAGA_RETRY_INVALID /retry/capMs',
  ],
  ['a factor below one', withFields({ retry: { factor: 0.9 } }), 'SAGA_RETRY_INVALID /retry/factor'],
  ['a factor over a hundred', withFields({ retry: { factor: 100.1 } }), 'SAGA_RETRY_INVALID /retry/factor'],
  ['a factor that is a text', withFields({ retry: { factor: '2' } }), 'SAGA_RETRY_INVALID /retry/factor'],
  ['a jitter below nothing', withFields({ retry: { jitter: -0.1 } }), 'SAGA_RETRY_INVALID /retry/jitter'],
  ['a jitter over one', withFields({ retry: { jitter: 1.1 } }), 'SAGA_RETRY_INVALID /retry/jitter'],
  ['a limit of nothing', withFields({ retry: { limit: 0 } }), 'SAGA_RETRY_INVALID /retry/limit'],
  ['a limit that is a text', withFields({ retry: { limit: '3' } }), 'SAGA_RETRY_INVALID /retry/limit'],
  ['a timeout of nothing', withFields({ timeoutMs: 0 }), 'SAGA_TIMEOUT_INVALID /timeoutMs'],
  ['a timeout that is null', withBranch({ timeoutMs: null }), 'SAGA_TIMEOUT_INVALID /branches/0/timeoutMs'],
  ['a deadline of nothing', withFields({ deadlineMs: 0 }), 'SAGA_DEADLINE_INVALID /deadlineMs'],
  ['a deadline with a fraction', withFields({ deadlineMs: 1.5 }), 'SAGA_DEADLINE_INVALID /deadlineMs'],
  ['a deadline that is a text', withFields({ deadlineMs: '10' }), 'SAGA_DEADLINE_INVALID /deadlineMs'],
  ['a delay below nothing', withFields({ delayMs: -1 }), 'SAGA_DELAY_INVALID /delayMs'],
  ['a checkpoint below nothing', withFields({ checkpointMs: -1 }), 'SAGA_CHECKPOINT_INVALID /checkpointMs'],
  ['two faults', withFields({ gid: '', ack: 1 }), 'SAGA_GID_INVALID /gid', 'SAGA_ACK_INVALID /ack'],
]

describe('a bad submission is refused with code and path', () => {
  for (const [what, body, ...faults] of BAD) {
    it(`for ${what}`, () => expect(listFaults(body)).toEqual(faults))
  }

  it('Each fault has a text, which may change', () => {
    const parsed = parse({})
    if (parsed.type !== 'refused') throw new Error('it was accepted')
    expect(parsed.faults[0].message).not.toBe('')
  })

  it('A refusal has no more faults than a person can mend', () => {
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 1]))
    expect(listFaults(withFields(fields))).toHaveLength(FAULTS_MAX)
  })

  it('A hostile submission cannot make its refusal long', () => {
    const long = 'x'.repeat(25_000)
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${long}${index}`, 1]))
    expect(JSON.stringify(parse(withFields(fields))).length).toBeLessThan(32_768)
    const twice = {
      branches: [
        { ...BRANCH, id: long.repeat(10) },
        { ...BRANCH, id: long.repeat(10) },
      ],
    }
    expect(JSON.stringify(parse(twice)).length).toBeLessThan(32_768)
  })
})

describe('the smallest submission', () => {
  it('The smallest submission gets every default', () => {
    expect(accepted({ branches: [BRANCH] })).toEqual({
      ack: 'durable',
      content: '{"branches":[{"action":"http://bank.test/debit"}]}',
      definition: {
        kind: 'saga',
        retry: RETRY,
        timeoutMs: 10_000,
        checkpointMs: 1_000,
        branches: [
          {
            id: '01',
            action: 'http://bank.test/debit',
            body: '{}',
            contentType: 'application/json',
            after: [],
            headers: {},
          },
        ],
      },
    })
  })

  it('Branches are numbered, each after the one before', () => {
    const { branches } = accepted({ branches: Array.from({ length: 11 }, () => BRANCH) }).definition
    expect(branches.map(({ id, after }) => `${id} ${after}`)).toEqual([
      '01 ',
      ...['02 0', '03 1', '04 2', '05 3', '06 4', '07 5', '08 6', '09 7', '10 8', '11 9'],
    ])
  })

  it('A submission keeps all its fields', () => {
    const { gid, ack, definition } = accepted({
      gid: 'order-1',
      kind: 'saga',
      ack: 'memory',
      timeoutMs: 1,
      deadlineMs: 2,
      delayMs: 3,
      checkpointMs: 0,
      retry: { initialMs: 1, factor: 1, capMs: 1, jitter: 0.5, limit: null },
      branches: [
        { id: 'a', action: 'https://bank.test/a', compensation: 'https://bank.test/b', timeoutMs: 5 },
      ],
    })
    expect({ gid, ack, definition }).toMatchObject({
      gid: 'order-1',
      ack: 'memory',
      definition: {
        timeoutMs: 1,
        deadlineMs: 2,
        delayMs: 3,
        checkpointMs: 0,
        retry: { initialMs: 1, factor: 1, capMs: 1, jitter: 0.5, limit: null },
        branches: [{ id: 'a', compensation: 'https://bank.test/b', timeoutMs: 5 }],
      },
    })
  })

  it('A delay of 0 is no delay', () => {
    expect(accepted(withFields({ delayMs: 0 })).definition).not.toHaveProperty('delayMs')
  })
})

describe('what a branch inherits', () => {
  it('A branch inherits the rest of its retry policy from the transaction and then from the server', () => {
    const { definition } = accepted({
      retry: { limit: 7, initialMs: 50 },
      branches: [{ ...BRANCH, retry: { limit: null } }, { ...BRANCH, retry: { factor: 3 } }, BRANCH],
    })
    expect(definition.retry).toEqual({ ...RETRY, limit: 7, initialMs: 50 })
    expect(definition.branches.map(({ retry }) => retry)).toEqual([
      { ...RETRY, initialMs: 50, limit: null },
      { ...RETRY, initialMs: 50, limit: 7, factor: 3 },
      undefined,
    ])
  })

  it('An inherited cap is at least the first wait', () => {
    expect(accepted(withFields({ retry: { initialMs: 90_000 } })).definition.retry.capMs).toBe(90_000)
  })

  it('A branch inherits the headers in lower case, and its own win', () => {
    const { definition } = accepted({
      headers: { 'X-Tenant': 'blue', 'X-Trace': ' 1 ' },
      branches: [{ ...BRANCH, headers: { 'x-TENANT': 'red', Authorization: 'Bearer t' } }, BRANCH],
    })
    expect(definition.branches.map(({ headers }) => headers)).toEqual([
      { 'x-tenant': 'red', 'x-trace': '1', authorization: 'Bearer t' },
      { 'x-tenant': 'blue', 'x-trace': '1' },
    ])
  })
})

describe('the order of branches', () => {
  const after = (...lists: (readonly string[] | undefined)[]) =>
    accepted({
      branches: lists.map((ids, index) => ({
        id: `b${index}`,
        ...BRANCH,
        ...(ids === undefined ? {} : { after: ids }),
      })),
    }).definition.branches.map((branch) => branch.after)

  it('A branch with an empty after starts at once', () => {
    expect(after(undefined, [])).toEqual([[], []])
  })

  it('Ids become positions, forward and backward in the list', () => {
    expect(after(['b2'], ['b0', 'b2'], [])).toEqual([[2], [0, 2], []])
  })

  it('A predecessor that is named twice counts once', () => {
    expect(after([], ['b0', 'b0'])).toEqual([[], [0]])
  })
})

/** Builds `depth` levels of lists and objects, counting the body of the submission. */
function nested(depth: number): unknown {
  let value: unknown = 1
  // The body, its branches and the branch are three levels above the payload.
  for (let level = 3; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return withBranch({ payload: value })
}

describe('a limit', () => {
  const branches = (length: number) => ({ branches: Array.from({ length }, () => BRANCH) })
  const headers = (count: number) => ({
    headers: Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, 'v'])),
  })
  const url = (length: number) => `http://bank.test/${'a'.repeat(length - 17)}`
  const BYTES = 262_144
  const PAIRS: readonly (readonly [string, unknown, unknown, string])[] = [
    ['100 branches', branches(100), branches(101), 'SAGA_TOO_MANY_BRANCHES /branches'],
    // The quotes of the JSON text count.
    [
      '256 KiB of payload',
      withBranch({ payload: 'a'.repeat(BYTES - 2) }),
      withBranch({ payload: 'a'.repeat(BYTES - 1) }),
      'SAGA_PAYLOAD_TOO_LARGE /branches/0/payload',
    ],
    [
      '256 KiB of payload in two bytes each',
      withBranch({ payload: 'ä'.repeat(BYTES / 2 - 1) }),
      withBranch({ payload: `${'ä'.repeat(BYTES / 2 - 1)}a` }),
      'SAGA_PAYLOAD_TOO_LARGE /branches/0/payload',
    ],
    [
      '256 KiB of body',
      withBranch({ body: 'a'.repeat(BYTES) }),
      withBranch({ body: 'a'.repeat(BYTES + 1) }),
      'SAGA_PAYLOAD_TOO_LARGE /branches/0/body',
    ],
    [
      '256 KiB of body in three bytes each',
      withBranch({ body: `${'€'.repeat(87_381)}a` }),
      withBranch({ body: `${'€'.repeat(87_381)}ä` }),
      'SAGA_PAYLOAD_TOO_LARGE /branches/0/body',
    ],
    [
      '256 KiB of body in four bytes each',
      withBranch({ body: '💶'.repeat(BYTES / 4) }),
      withBranch({ body: `${'💶'.repeat(BYTES / 4)}a` }),
      'SAGA_PAYLOAD_TOO_LARGE /branches/0/body',
    ],
    ['32 levels', nested(JSON_DEPTH_MAX), nested(JSON_DEPTH_MAX + 1), 'SAGA_PAYLOAD_TOO_DEEP '],
    [
      'a deadline of 30 days',
      withFields({ deadlineMs: 2_592_000_000 }),
      withFields({ deadlineMs: 2_592_000_001 }),
      'SAGA_DEADLINE_INVALID /deadlineMs',
    ],
    [
      'a delay of 30 days',
      withFields({ delayMs: DELAY_MS_MAX }),
      withFields({ delayMs: DELAY_MS_MAX + 1 }),
      'SAGA_DELAY_INVALID /delayMs',
    ],
    [
      'the longest timeout',
      withFields({ timeoutMs: TIMEOUT_MS_MAX }),
      withFields({ timeoutMs: TIMEOUT_MS_MAX + 1 }),
      'SAGA_TIMEOUT_INVALID /timeoutMs',
    ],
    [
      'the longest checkpoint',
      withFields({ checkpointMs: CHECKPOINT_MS_MAX }),
      withFields({ checkpointMs: CHECKPOINT_MS_MAX + 1 }),
      'SAGA_CHECKPOINT_INVALID /checkpointMs',
    ],
    [
      'the longest cap',
      withFields({ retry: { capMs: RETRY_CAP_MS_MAX } }),
      withFields({ retry: { capMs: RETRY_CAP_MS_MAX + 1 } }),
      'SAGA_RETRY_INVALID /retry/capMs',
    ],
    [
      'the highest retry limit',
      withFields({ retry: { limit: RETRY_LIMIT_MAX } }),
      withFields({ retry: { limit: RETRY_LIMIT_MAX + 1 } }),
      'SAGA_RETRY_INVALID /retry/limit',
    ],
    ['20 headers', withFields(headers(20)), withFields(headers(21)), 'SAGA_HEADER_INVALID /headers'],
    [
      '20 headers of a branch',
      withBranch(headers(20)),
      withBranch(headers(21)),
      'SAGA_HEADER_INVALID /branches/0/headers',
    ],
    [
      '8 KiB of headers, names counted',
      withFields({ headers: { abcd: 'v'.repeat(8_188) } }),
      withFields({ headers: { abcd: 'v'.repeat(8_189) } }),
      'SAGA_HEADER_INVALID /headers',
    ],
    [
      'a header name of 256 characters',
      withFields({ headers: { ['n'.repeat(256)]: '' } }),
      withFields({ headers: { ['n'.repeat(257)]: '' } }),
      `SAGA_HEADER_INVALID /headers/${'n'.repeat(257)}`,
    ],
    [
      'a content type of 255 characters',
      withBranch({ body: '', contentType: `text/${'c'.repeat(250)}` }),
      withBranch({ body: '', contentType: `text/${'c'.repeat(251)}` }),
      'SAGA_HEADER_INVALID /branches/0/contentType',
    ],
    [
      'a gid that only begins like one of an alert',
      withFields({ gid: 'alert-attention-27228c815b9df747-1995245-a' }),
      withFields({ gid: 'alert-attention-27228c815b9df747-1995245' }),
      'SAGA_GID_INVALID /gid',
    ],
    [
      'a gid of 128 characters',
      withFields({ gid: 'g'.repeat(128) }),
      withFields({ gid: 'g'.repeat(129) }),
      'SAGA_GID_INVALID /gid',
    ],
    ['a gid of one character', withFields({ gid: 'g' }), withFields({ gid: '' }), 'SAGA_GID_INVALID /gid'],
    ['a gid of dots', withFields({ gid: '...' }), withFields({ gid: '..' }), 'SAGA_GID_INVALID /gid'],
    [
      'a gid that starts with a dot',
      withFields({ gid: '.a' }),
      withFields({ gid: '.' }),
      'SAGA_GID_INVALID /gid',
    ],
    [
      'a branch id of 64 characters',
      withBranch({ id: 'b'.repeat(64) }),
      withBranch({ id: 'b'.repeat(65) }),
      'SAGA_BRANCH_ID_INVALID /branches/0/id',
    ],
    [
      'a URL of 2,048 characters',
      withBranch({ action: url(2_048) }),
      withBranch({ action: url(2_049) }),
      'SAGA_URL_INVALID /branches/0/action',
    ],
  ]

  for (const [what, good, bad, fault] of PAIRS) {
    it(`lets pass exactly ${what}, and nothing over it`, () => {
      expect(listFaults(good)).toEqual([])
      expect(listFaults(bad)).toEqual([fault])
    })
  }

  it('Each limit has its fixed value', () => {
    expect([BRANCHES_MAX, DEADLINE_MS_MAX, GID_LENGTH_MAX, JSON_DEPTH_MAX]).toEqual([
      100, 2_592_000_000, 128, 32,
    ])
  })

  it('The depth limit refuses a very deep body without a stack overflow', () => {
    const text = `{"branches":[{"action":"http://a.test/","payload":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`
    const parsed = parseSubmission(JSON.parse(text), DEFAULTS, checkUrl)
    expect(parsed).toMatchObject({ type: 'refused', faults: [{ code: 'SAGA_PAYLOAD_TOO_DEEP', path: '' }] })
  })
})

describe('the server’s defaults', () => {
  it('The server’s defaults fill the fields that the request leaves out', () => {
    const defaults = { retry: { ...RETRY, limit: 3 }, timeoutMs: 77, checkpointMs: 0 }
    const { definition } = accepted({ branches: [BRANCH] }, defaults)
    expect(definition).toMatchObject(defaults)
    expect(accepted(withFields({ timeoutMs: 5 }), defaults).definition.timeoutMs).toBe(5)
    expect(DEFAULTS.timeoutMs).toBe(10_000)
  })
})
