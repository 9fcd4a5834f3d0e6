import { describe, expect, it } from 'vitest'
import { isBranchError, parseBranch } from '../../src/index.ts'

const QUERY = { gid: 'g-1', trans_type: 'saga', branch_id: '01', op: 'action' }

function codeOf(query: unknown, headers: Readonly<Record<string, unknown>> = {}): string {
  try {
    parseBranch({ query, headers })
    return 'none'
  } catch (error: unknown) {
    return isBranchError(error) ? `${error.statusCode} ${error.code}` : String(error)
  }
}

describe('a branch call', () => {
  it('is read from a query and headers, as this server writes them', () => {
    const headers = {
      'counterstep-attempt': '3',
      'counterstep-epoch': '7',
      'counterstep-accepted-at': '1700000000000',
      'x-many': ['a', 'b'],
    }
    expect(parseBranch({ query: QUERY, headers, payload: { cents: 5 } })).toEqual({
      gid: 'g-1',
      kind: 'saga',
      branchId: '01',
      op: 'action',
      barrierId: '01',
      attempt: 3,
      epoch: 7,
      acceptedAt: 1_700_000_000_000,
      payload: { cents: 5 },
      headers: { ...headers, 'x-many': 'a, b' },
    })
  })

  it('is read from the platform’s own types', () => {
    const query = new URL('http://bank/debit?account=1&gid=a%2Fb&trans_type=tcc&branch_id=0201&op=cancel')
      .searchParams
    const headers = new Headers({ 'Counterstep-Attempt': '1' })
    expect(parseBranch({ query, headers })).toMatchObject({
      gid: 'a/b',
      kind: 'tcc',
      op: 'cancel',
      attempt: 1,
    })
  })

  for (const [kind, op, own] of [
    ['saga', 'action', 'saga'],
    ['saga', 'compensate', 'saga'],
    ['tcc', 'try', 'tcc'],
    ['tcc', 'confirm', 'tcc'],
    ['tcc', 'cancel', 'tcc'],
    ['msg', 'action', 'message'],
    ['msg', 'msg', 'message'],
    ['message', 'action', 'message'],
  ] as const) {
    it(`of DTM, without our headers: ${kind} ${op}`, () => {
      const branch = parseBranch({ query: { ...QUERY, trans_type: kind, op }, headers: {} })
      expect(branch).toMatchObject({ kind: own, op, attempt: 0, epoch: 0 })
      expect(branch).not.toHaveProperty('acceptedAt')
    })
  }
})

describe('what is no branch call', () => {
  for (const name of Object.keys(QUERY)) {
    it(`without ${name} is invalid`, () => {
      expect(codeOf({ ...QUERY, [name]: undefined })).toBe('400 BRANCH_CALL_INVALID')
      expect(codeOf({ ...QUERY, [name]: '' })).toBe('400 BRANCH_CALL_INVALID')
    })
    it(`with two of ${name} is invalid`, () => {
      expect(codeOf({ ...QUERY, [name]: ['a', 'b'] })).toBe('400 BRANCH_CALL_INVALID')
      const twice = new URLSearchParams([...Object.entries(QUERY), [name, 'other']])
      expect(codeOf(twice)).toBe('400 BRANCH_CALL_INVALID')
    })
  }

  for (const [title, query] of [
    ['no query', undefined],
    ['a text', 'gid=g'],
    ['an id with a line feed', { ...QUERY, gid: 'g\n1' }],
    ['an id with a NUL', { ...QUERY, gid: 'g\u0000' }],
    ['an id with half a character', { ...QUERY, gid: 'g\ud800' }],
    ['an id of 129 bytes', { ...QUERY, branch_id: `${'ü'.repeat(64)}x` }],
  ] as const) {
    it(`${title} is invalid`, () => expect(codeOf(query)).toBe('400 BRANCH_CALL_INVALID'))
  }

  it('of a kind or op that is not served says so', () => {
    for (const [kind, op] of [
      ['xa', 'commit'],
      ['workflow', 'x'],
      ['saga', 'try'],
      ['tcc', 'action'],
      ['__proto__', 'action'],
    ]) {
      expect(codeOf({ ...QUERY, trans_type: kind, op })).toBe('400 BRANCH_KIND_UNSUPPORTED')
    }
  })

  it('is one whose age is garbage, but not one whose attempt is', () => {
    expect(codeOf(QUERY, { 'counterstep-accepted-at': 'yesterday' })).toBe('400 BRANCH_CALL_INVALID')
    const branch = parseBranch({
      query: QUERY,
      headers: { 'counterstep-attempt': '-1', 'counterstep-epoch': 'x' },
    })
    expect(branch).toMatchObject({ attempt: 0, epoch: 0 })
  })
})
