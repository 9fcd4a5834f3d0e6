import { describe, expect, it } from 'vitest'
import { isUndoDue } from '../../src/branch/parse-branch.ts'
import { isBranchError, parseBranch } from '../../src/index.ts'
import { callUrl } from './call-url.ts'
import { OtherHeaders } from './other-headers.ts'

const QUERY = { gid: 'g-1', trans_type: 'saga', branch_id: '01', op: 'action' }

function readCode(url: string, headers: Readonly<Record<string, unknown>> = {}): string {
  try {
    parseBranch({ url, headers })
    return 'none'
  } catch (error: unknown) {
    return isBranchError(error) ? `${error.statusCode} ${error.code}` : String(error)
  }
}

describe('a branch call', () => {
  it('A branch call is read from a query and headers, as this server writes them', () => {
    const headers = {
      'counterstep-attempt': '3',
      'counterstep-epoch': '7',
      'counterstep-accepted-at': '1700000000000',
      'x-many': ['a', 'b'],
    }
    expect(parseBranch({ url: callUrl(QUERY), headers, payload: { cents: 5 } })).toEqual({
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

  it('A branch call is read from the URL and the Headers of the platform', () => {
    const { url } = new Request(
      'http://bank/debit?account=1&gid=a%2Fb&trans_type=tcc&branch_id=0201&op=cancel',
    )
    const headers = new Headers({ 'Counterstep-Attempt': '1' })
    expect(parseBranch({ url, headers })).toMatchObject({
      gid: 'a/b',
      kind: 'tcc',
      op: 'cancel',
      attempt: 1,
    })
  })

  it('A call is read as one that nothing undoes by its header alone, and only if it is an action', () => {
    const headers = { 'counterstep-undo': 'none' }
    expect(parseBranch({ url: callUrl(QUERY), headers })).toMatchObject({ hasNoUndo: true })
    expect(parseBranch({ url: callUrl(QUERY), headers: {} })).not.toHaveProperty('hasNoUndo')
  })

  it('An undo with something to undo is told by its header, and demands nothing of effects that pass a barrier themselves', () => {
    const url = callUrl({ ...QUERY, op: 'compensate' })
    const branch = parseBranch({ url, headers: { 'Counterstep-Undo': 'due' } })
    expect(isUndoDue(branch)).toBe(true)
    expect(branch).not.toHaveProperty('mustUndo')
    expect(isUndoDue(parseBranch({ url, headers: {} }))).toBe(false)
  })

  for (const [op, text] of [
    ['action', 'due'],
    ['compensate', 'none'],
    ['compensate', 'some'],
  ] as const)
    it(`The header counterstep-undo of ${op} is not ${text}`, () => {
      const call = () =>
        parseBranch({ url: callUrl({ ...QUERY, op }), headers: { 'counterstep-undo': text } })
      expect(call).toThrow(/counterstep-undo/)
    })

  it('A branch call is read from Headers of another class', () => {
    const url = callUrl(QUERY)
    const other = (init: Readonly<Record<string, string>>) => new OtherHeaders(init) as unknown as Headers
    const headers = other({ 'Counterstep-Attempt': '3', 'counterstep-accepted-at': '1700000000000' })
    expect(parseBranch({ url, headers })).toMatchObject({ attempt: 3, acceptedAt: 1_700_000_000_000 })
    const call = () => parseBranch({ url, headers: other({ 'counterstep-gid': 'another' }) })
    expect(call).toThrow(/counterstep-gid does not agree/)
    // A header may have the name of a method.
    const named = { get: 'a', forEach: 'b' }
    expect(parseBranch({ url, headers: named }).headers).toEqual({ get: 'a', foreach: 'b' })
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
    it(`A call of DTM is read without our headers (${kind} ${op})`, () => {
      const branch = parseBranch({ url: callUrl({ ...QUERY, trans_type: kind, op }), headers: {} })
      expect(branch).toMatchObject({ kind: own, op, attempt: 0, epoch: 0 })
      expect(branch).not.toHaveProperty('acceptedAt')
    })
  }
})

describe('what is no branch call', () => {
  for (const name of Object.keys(QUERY)) {
    it(`A call without ${name} is invalid`, () => {
      const { [name as keyof typeof QUERY]: _, ...others } = QUERY
      expect(readCode(callUrl(others))).toBe('400 BRANCH_CALL_INVALID')
      expect(readCode(callUrl({ ...QUERY, [name]: '' }))).toBe('400 BRANCH_CALL_INVALID')
    })
  }

  for (const [title, url] of [
    ['no query', '/branch'],
    ['an empty URL', ''],
    ['no URL, from a program without types', undefined as unknown as string],
    ['the query alone', 'gid=g&trans_type=saga&branch_id=01&op=action'],
    ['the query behind a fragment', `/branch#${callUrl(QUERY)}`],
    ['an id with a line feed', callUrl({ ...QUERY, gid: 'g\n1' })],
    ['an id with a NUL', callUrl({ ...QUERY, gid: 'g\u0000' })],
    ['an id that is no UTF-8', callUrl(QUERY).replace('gid=g-1', 'gid=g%ED%A0%80')],
    ['an id with a broken escape', callUrl(QUERY).replace('gid=g-1', 'gid=g%')],
    ['an id of 129 bytes', callUrl({ ...QUERY, branch_id: `${'ü'.repeat(64)}x` })],
  ] as const) {
    it(`A call with ${title} is invalid`, () => expect(readCode(url)).toBe('400 BRANCH_CALL_INVALID'))
  }

  it('A kind or op that is not served is refused by name', () => {
    for (const [kind, op] of [
      ['xa', 'commit'],
      ['workflow', 'x'],
      ['saga', 'try'],
      ['tcc', 'action'],
      ['__proto__', 'action'],
    ]) {
      expect(readCode(callUrl({ ...QUERY, trans_type: kind ?? '', op: op ?? '' }))).toBe(
        '400 BRANCH_KIND_UNSUPPORTED',
      )
    }
  })

  it('A call whose age is garbage is refused, but one whose attempt is garbage is not', () => {
    expect(readCode(callUrl(QUERY), { 'counterstep-accepted-at': 'yesterday' })).toBe(
      '400 BRANCH_CALL_INVALID',
    )
    const branch = parseBranch({
      url: callUrl(QUERY),
      headers: { 'counterstep-attempt': '-1', 'counterstep-epoch': 'x' },
    })
    expect(branch).toMatchObject({ attempt: 0, epoch: 0 })
  })
})

describe('S39: the identity of a call', () => {
  const SPELLINGS = [
    'gid',
    'GID',
    '%67id',
    'gid[]',
    '[gid]',
    'gid[x]',
    'gid.x',
    'gid%5B0%5D',
    '%5bgid%5d',
    'gid%00',
    '+gid',
  ]

  for (const name of SPELLINGS) {
    it(`The identity of a call is refused where a second gid is spelt ${name}, before ours and behind it`, () => {
      expect(readCode(`${callUrl(QUERY)}&${name}=other`)).toBe('400 BRANCH_CALL_INVALID')
      expect(readCode(callUrl(QUERY).replace('?', `?${name}=other&`))).toBe('400 BRANCH_CALL_INVALID')
      expect(readCode(callUrl(QUERY).replace('?', `;${name}=other?`))).toBe('400 BRANCH_CALL_INVALID')
    })
  }

  it('The identity of a call is read wherever it stands, however many other parameters there are', () => {
    const padding = '&'.repeat(1_500)
    const url = `/branch?a=1${padding}${callUrl(QUERY).slice('/branch?'.length)}${padding}b[c]=2`
    expect(parseBranch({ url, headers: {} })).toMatchObject({ gid: 'g-1', branchId: '01', op: 'action' })
  })

  for (const [header, same, other] of [
    ['counterstep-gid', 'g-1', 'g-2'],
    ['counterstep-branch-id', '01', '02'],
    ['counterstep-op', 'action', 'compensate'],
    ['counterstep-kind', 'saga', 'tcc'],
  ] as const) {
    it(`The identity of a call is refused where ${header} says something else`, () => {
      expect(readCode(callUrl(QUERY), { [header]: same })).toBe('none')
      expect(readCode(callUrl(QUERY), { [header]: other })).toBe('400 BRANCH_CALL_INVALID')
      expect(readCode(callUrl(QUERY), { [header]: [same, other] })).toBe('400 BRANCH_CALL_INVALID')
      expect(readCode(callUrl(QUERY), { [header]: '' })).toBe('400 BRANCH_CALL_INVALID')
    })
  }

  it("The kind of a message is our own word in the header, and DTM's in the query", () => {
    const url = callUrl({ ...QUERY, trans_type: 'msg' })
    expect(readCode(url, { 'counterstep-kind': 'message' })).toBe('none')
    expect(readCode(url, { 'counterstep-kind': 'msg' })).toBe('400 BRANCH_CALL_INVALID')
  })
})
