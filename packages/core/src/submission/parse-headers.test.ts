import { HEADER_BYTES_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { parse } from '../../test/submissions.ts'
import { isReservedHeader } from './parse-headers.ts'

/** Lists the faults of the headers, for a whole transaction and for one branch. */
function listFaults(headers: unknown): readonly string[] {
  const bodies = [
    { headers, branches: [{ action: 'http://bank.test/debit' }] },
    { branches: [{ action: 'http://bank.test/debit', headers }] },
    { kind: 'message', headers, branches: [{ action: 'http://bank.test/debit' }] },
    { kind: 'tcc', headers },
  ]
  return bodies.map((body) => {
    const parsed = parse(body)
    return parsed.type === 'refused' ? parsed.faults[0].code : 'parsed'
  })
}

const REFUSED = Array(4).fill('SAGA_HEADER_INVALID')
const DENIED = [
  ...['Host', 'Content-Length', 'Content-Type', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade'],
  ...[
    'TE',
    'Trailer',
    'Expect',
    'Cookie',
    'Proxy',
    'Proxy-Authorization',
    'proxy-connection',
    'Counterstep-Epoch',
  ],
  ...['counterstep-anything', 'Signature', 'Signature-Input', 'signature-agent', 'Content-Digest'],
]

describe('S39: a header that a service may take for the identity of a call', () => {
  it.each([
    ...[
      'counterstep-gid',
      'counterstep_gid',
      'counterstep.op',
      'counterstep!kind',
      'signature_input',
      'content_digest',
    ],
    ...['dtm-gid', 'dtm-trans_type', 'dtm_branch_id', 'dtm.op', 'content_type', 'transfer_encoding'],
    ...[
      'x-original-url',
      'x-rewrite-url',
      'x-http-method-override',
      'x_http_method_override',
      'x-method-override',
    ],
  ])('is not a caller’s to set: %s', (name) => expect(isReservedHeader(name)).toBe(true))

  it.each(['x-tenant', 'authorization', 'accept', 'x-forwarded-for', 'contents', 'x-dtm-gid', 'traceparent'])(
    'may be %s',
    (name) => expect(isReservedHeader(name)).toBe(false),
  )
})

describe('S9: a header', () => {
  it.each(DENIED)('that is not for a caller to set is refused: %s', (name) => {
    expect(listFaults({ [name]: '1' })).toEqual(REFUSED)
    expect(listFaults({ [name.toUpperCase()]: '1' })).toEqual(REFUSED)
  })

  it.each(['Authorization', 'X-Signature', 'Digest', 'Idempotency-Key', 'traceparent'])(
    'may be %s',
    (name) => {
      expect(listFaults({ [name]: '1' })).toEqual(Array(4).fill('parsed'))
    },
  )

  it.each(['a b', '', 'a:', 'a\r\nb', 'a\u0000', 'ä', 'a(b', 'a"b'])('has no such name: %j', (name) => {
    expect(listFaults({ [name]: '1' })).toEqual(REFUSED)
  })

  it.each(['a\r\nb: c', 'a\nb', 'a\rb', '\u0000', 'ä', '\u007f', '\u2028'])(
    'has no such value: %j',
    (value) => {
      expect(listFaults({ 'x-a': value })).toEqual(REFUSED)
    },
  )

  it('S41: A value is refused by its length before its blanks are removed', () => {
    const value = (blanks: number) => `${' '.repeat(blanks)}a value that is kept`
    expect(listFaults({ 'x-a': value(HEADER_BYTES_MAX) })).toEqual(REFUSED)
    const parsed = parse({ kind: 'tcc', headers: { 'x-a': value(HEADER_BYTES_MAX / 2) } })
    expect(parsed).toMatchObject({
      submission: { definition: { headers: { 'x-a': 'a value that is kept' } } },
    })
  })

  it('Headers that are too many are refused by their number, and no branch inherits them', () => {
    const headers = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x ${n}`, '1']))
    const branch = { action: 'http://bank.test/debit', headers: { 'x-own': '1' } }
    const compensation = { url: 'http://bank.test/undo', headers: { 'x-own': { $from: 'a' } } }
    const branches = ['a', 'b', 'c'].map((id) => ({ ...branch, id, compensation }))
    const tooMany = { code: 'SAGA_HEADER_INVALID', message: 'has more than 20 headers' }
    for (const body of [
      { headers, branches },
      { kind: 'message', headers, branches: [branch] },
    ])
      expect(parse(body)).toEqual({ type: 'refused', faults: [{ ...tooMany, path: '/headers' }] })
    const open = { ...headers, 'x-ref': { $from: 'a' } }
    expect(parse({ branches: [{ ...branch, id: 'a', headers: open }] })).toEqual({
      type: 'refused',
      faults: [{ ...tooMany, path: '/branches/0/headers' }],
    })
  })

  it('A header is given once, whatever the case of its name', () => {
    expect(listFaults({ 'X-A': '1', 'x-a': '1' })).toEqual(REFUSED)
  })
})
