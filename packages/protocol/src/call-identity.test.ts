import { describe, expect, it } from 'vitest'
import { findUrlFault, readCallIdentity, URL_PARAMETERS_MAX } from './call-identity.ts'

const OURS = 'gid=g-1&trans_type=saga&branch_id=01&op=action'
const IDENTITY = { gid: 'g-1', trans_type: 'saga', branch_id: '01', op: 'action' }

/** Each is a name that some common parser folds into the name behind it. */
const FOLDS: readonly (readonly [written: string, name: string, reader: string])[] = [
  ['gid', 'gid', 'every parser'],
  ['GID', 'gid', 'ASP.NET'],
  ['Trans_Type', 'trans_type', 'ASP.NET'],
  ['%67id', 'gid', 'every parser, since names are decoded'],
  ['%4fp', 'op', 'ASP.NET'],
  ['[gid]', 'gid', 'qs and Rack'],
  ['%5Bgid%5D', 'gid', 'qs and Rack'],
  ['gid[]', 'gid', 'qs, PHP and Rack'],
  ['gid%5b0%5d', 'gid', 'qs, PHP and Rack'],
  ['op[x]', 'op', 'qs, PHP and Rack'],
  ['branch_id.x', 'branch_id', 'qs with dots'],
  ['branch.id', 'branch_id', 'PHP'],
  ['branch%20id', 'branch_id', 'PHP'],
  ['branch+id', 'branch_id', 'PHP'],
  ['trans[type', 'trans_type', 'PHP'],
  ['+op', 'op', 'PHP'],
  ['op%00', 'op', 'readers in C'],
  ['%00op', 'op', 'readers that drop control characters'],
  ['op%0d', 'op', 'readers that trim'],
]

describe('S39: the URL of a branch', () => {
  it.each(FOLDS)('must not have the parameter %s, which is %s to %s', (written, name) => {
    for (const target of [
      `/debit?${written}=x`,
      `/debit?a=1&${written}=x`,
      `/debit?a=1;${written}=x`,
      `/debit?${written}`,
      `/debit?a?${written}=x`,
      `/debit;${written}=x`,
      `/debit;a=1;${written}=x/next?b=2`,
      `/debit%3F${written}=x`,
      `/debit%3fa=1%26${written}=x`,
      `http://bank.test/debit?${written}=x`,
    ]) {
      expect([target, findUrlFault(target)]).toEqual([
        target,
        `must not have a parameter that may be read as ${name}: each call adds its own`,
      ])
    }
  })

  it.each([
    ['/debit?%2567id=x', 'must not have a parameter whose name is encoded twice'],
    ['/debit?x%255B=1', 'must not have a parameter whose name is encoded twice'],
    ['/debit?%EF%BD%87id=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?%C1%A7id=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?o%CC%81p=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?%E2%84%AA=x', 'must not have a parameter whose name is not ASCII'],
  ])('is refused for what a lenient reader may fold: %s', (target, fault) => {
    expect(findUrlFault(target)).toBe(fault)
  })

  it.each([
    '/debit',
    '/debit?',
    '/debit?a=1&b=2',
    '/debit?a=1&&b=2&',
    '/debit?gid2=1&gids=2&my_gid=3&opx=4&branch=5&id=6&branch-id=7&branchId=8&op_type=9',
    '/debit?filter[gid]=1&sort.op=2',
    '/debit?a=gid&b=op%3Daction%26gid',
    '/debit?q=gr%C3%BC%C3%9Fe',
    '/gid/op;v=1/debit?a=1',
    '/gid=1/op=2',
    '/debit?100%=1&%zz=2',
    '/d%C3%A9bit/100%25',
  ])('may be %s', (target) => expect(findUrlFault(target)).toBeUndefined())

  it('has at most so many parameters as every parser reads', () => {
    const query = (count: number) => Array.from({ length: count }, (_, n) => `p${n}=1`).join('&')
    expect(findUrlFault(`/debit?${query(URL_PARAMETERS_MAX)}`)).toBeUndefined()
    const fault = `must not have more than ${URL_PARAMETERS_MAX} parameters`
    expect(findUrlFault(`/debit?${query(URL_PARAMETERS_MAX + 1)}`)).toBe(fault)
    expect(findUrlFault(`/debit?${'&'.repeat(1_001)}`)).toBe(fault)
    expect(findUrlFault(`/debit?${';'.repeat(1_001)}`)).toBe(fault)
    expect(findUrlFault(`/debit${';'.repeat(1_001)}`)).toBe(fault)
  })
})

describe('S39: a service that reads the target of a call', () => {
  it.each([
    `/debit?${OURS}`,
    `/debit?${OURS}&a=1`,
    `/debit?a=1&${OURS}`,
    `/debit?a=1&${OURS}${'&'.repeat(2_000)}`,
    `/debit?op=action&branch_id=01&trans_type=saga&gid=g-1`,
    `https://bank.test/debit;v=1?${OURS}#${OURS}`,
    `/debit?${OURS.replace('g-1', 'g%2D1')}`,
  ])('finds the identity in %s', (target) => expect(readCallIdentity(target)).toEqual(IDENTITY))

  it('decodes values as queries are', () => {
    const query = 'gid=a%2Fb%3Fc%26d+e%C3%A9&trans_type=saga&branch_id=01&op=action'
    expect(readCallIdentity(`/debit?${query}`)).toEqual({ ...IDENTITY, gid: 'a/b?c&d eé' })
  })

  it.each(FOLDS)('refuses a second value that is spelt %s (%s to %s)', (written) => {
    for (const target of [
      `/debit?${OURS}&${written}=x`,
      `/debit?${written}=x&${OURS}`,
      `/debit;${written}=x?${OURS}`,
      `/debit%3F${written}=x?${OURS}`,
    ]) {
      expect(readCallIdentity(target)).toHaveProperty('fault')
    }
  })

  it.each([
    ['/debit', 'has no query'],
    ['', 'has no query'],
    [`/debit#?${OURS}`, 'has no query'],
    ['/debit?', 'has no gid'],
    [`/debit?${OURS.replace('op=action', 'op=')}`, 'has no op'],
    [`/debit?${OURS}&op=action`, 'has op more than once'],
    [`/debit?${OURS.replace('g-1', '%')}`, 'has a gid that cannot be decoded'],
    [`/debit?${OURS.replace('g-1', '%FF')}`, 'has a gid that cannot be decoded'],
  ])('says what is wrong with %s', (target, fault) => expect(readCallIdentity(target)).toEqual({ fault }))
})
