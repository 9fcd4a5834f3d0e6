import { describe, expect, it } from 'vitest'
import { findPayloadFault, findUrlFault, readCallIdentity, URL_PARAMETERS_MAX } from './call-identity.ts'

const OURS = 'gid=g-1&trans_type=saga&branch_id=01&op=action'
const IDENTITY = { gid: 'g-1', trans_type: 'saga', branch_id: '01', op: 'action' }

/** Some common parser reads each of these names as the name behind it. */
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
  ['=gid', 'gid', 'ufo, h3 and Netty'],
  ['==gid', 'gid', 'ufo, h3 and Netty'],
  ['x[gid]', 'gid', 'no known parser'],
  ['__proto__[gid]', 'gid', 'picoquery'],
  ['constructor[prototype][op]', 'op', 'picoquery'],
  ['identity.gid', 'gid', 'the prefix binder of ASP.NET Core'],
  ['x.branch.id', 'branch_id', 'no known parser'],
  ['%2567id', 'gid', 'a parser that decodes twice'],
  ['x%26gid', 'gid', 'a parser that decodes before it splits'],
]

describe('S39: the URL of a branch', () => {
  it.each(FOLDS)(
    'A branch URL must not have the parameter %s, which is read as %s by %s',
    (written, name) => {
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
        `/debit%253F${written}=x`,
        `/debit?next=%2Fundo%3F${written}%3Dx`,
        `http://bank.test/debit?${written}=x`,
      ]) {
        expect([target, findUrlFault(target)]).toEqual([
          target,
          `must not have a parameter that may be read as ${name}: each call adds its own`,
        ])
      }
    },
  )

  it.each([
    ['/debit?%u0067id=x', 'must not have a % that begins no escape'],
    ['/debit?%25u0067id=x', 'must not have a % that begins no escape'],
    ['/debit?%2525u0067id=x', 'must not have a % that begins no escape'],
    ['/debit?g%id=x', 'must not have a % that begins no escape'],
    ['/debit%', 'must not have a % that begins no escape'],
    ['/debit%0d%0acounterstep-gid:%20x', 'must not have an encoded control character'],
    ['/debit%250Ax', 'must not have an encoded control character'],
    ['/debit?op%00=x', 'must not have a parameter that may be read as op: each call adds its own'],
    ['/debit?%00op=x', 'must not have an encoded control character'],
    ['/debit?o%00p=x', 'must not have an encoded control character'],
    ['/debit?a=%2525252561', 'must not be encoded more than 3 times'],
    ['/debit?%EF%BD%87id=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?%C1%A7id=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?o%CC%81p=x', 'must not have a parameter whose name is not ASCII'],
    ['/debit?%E2%84%AA=x', 'must not have a parameter whose name is not ASCII'],
  ])('A branch URL is refused for what a lenient reader may fold: %s', (target, fault) => {
    expect(findUrlFault(target)).toBe(fault)
  })

  it.each([
    '/debit',
    '/debit?',
    '/debit?a=1&b=2',
    '/debit?a=1&&b=2&',
    '/debit?gid2=1&gids=2&my_gid=3&opx=4&branch=5&id=6&branch-id=7&branchId=8&op_type=9',
    '/debit?filter[a]=1&sort.b=2&[]=3',
    '/debit?a=gid&b=op%3Daction',
    '/debit?next=https%3A%2F%2Fshop%2F%3Fa%3D1',
    '/debit?q=gr%C3%BC%C3%9Fe',
    '/gid/op;v=1/debit?a=1',
    '/gid=1/op=2',
    '/d%C3%A9bit/100%25',
  ])('A branch URL may be %s', (target) => expect(findUrlFault(target)).toBeUndefined())

  it('A branch URL has at most as many parameters as every parser reads', () => {
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
  ])('A service finds the identity of a call in %s', (target) =>
    expect(readCallIdentity(target)).toEqual(IDENTITY),
  )

  it('A service decodes the values of an identity as queries are decoded', () => {
    const query = 'gid=a%2Fb%3Fc%26d+e%C3%A9&trans_type=saga&branch_id=01&op=action'
    expect(readCallIdentity(`/debit?${query}`)).toEqual({ ...IDENTITY, gid: 'a/b?c&d eé' })
  })

  it.each(FOLDS)(
    'A service refuses a second value for the identity that is spelt %s (read as %s by %s)',
    (written) => {
      for (const target of [
        `/debit?${OURS}&${written}=x`,
        `/debit?${written}=x&${OURS}`,
        `/debit;${written}=x?${OURS}`,
        `/debit%3F${written}=x?${OURS}`,
      ]) {
        expect(readCallIdentity(target)).toHaveProperty('fault')
      }
    },
  )

  it.each([
    ['/debit', 'has no query'],
    ['', 'has no query'],
    [`/debit#?${OURS}`, 'has no query'],
    ['/debit?', 'has no gid'],
    [`/debit?${OURS.replace('op=action', 'op=')}`, 'has no op'],
    [`/debit?${OURS}&op=action`, 'has op more than once'],
    [`/debit?${OURS.replace('g-1', '%')}`, 'has a gid that cannot be decoded'],
    [`/debit?${OURS.replace('g-1', '%FF')}`, 'has a gid that cannot be decoded'],
  ])('A service names the fault of the target %s', (target, fault) =>
    expect(readCallIdentity(target)).toEqual({ fault }),
  )
})

describe('S39: the body of a branch', () => {
  it.each([
    ['application/json', '{"gid":"x"}'],
    ['application/json; charset=utf-8', '{}'],
    ['Application/JSON;charset="UTF-8"', '{}'],
    [' text/plain ; charset=us-ascii ; format=flowed', 'gid=x'],
    ['application/vnd.own+json', '{}'],
    ['application/octet-stream', 'op=x'],
    ['application/x-www-form-urlencoded', 'account=alice&cents=5&note=a%0D%0Ab+c%25'],
    ['application/x-www-form-urlencoded', ''],
  ])('The body of a branch may be %s: %s', (contentType, body) =>
    expect(findPayloadFault(contentType, body)).toBeUndefined(),
  )

  it.each([
    'application/json; charset=utf-7',
    'application/json;charset="IBM037"',
    'text/plain; charset=utf-16be',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset="utf\\-8"',
    "application/json; charset*=utf-8''utf-7",
    'application/json; xcharset=utf-7',
    'application/json; a="b;charset=utf-7"',
    'application/json; charset = utf-7',
    'application/json; charset=',
    'application/json,text/html;charset=utf-7',
    'json',
    '',
  ])('A body is refused as %s, by which a service may decode the query', (contentType) => {
    expect(findPayloadFault(contentType, '{}')).toMatch(/must have a content type of the form/)
  })

  it.each(FOLDS)('A form is refused with the field %s (read as %s by %s)', (written, name) => {
    const fault = `must not have a parameter that may be read as ${name}: each call adds its own`
    for (const body of [`${written}=x`, `a=1&${written}=x`, `a=1;${written}=x`, `${written}`]) {
      expect(findPayloadFault('application/x-www-form-urlencoded', body)).toBe(fault)
      expect(findPayloadFault('Application/X-WWW-Form-Urlencoded; charset=UTF-8', body)).toBe(fault)
    }
  })

  it.each(['op%00=x', '%00op=x', 'o%00p=x', 'op%0D%0A=x'])('A form is refused with the field %s', (body) => {
    expect(findPayloadFault('application/x-www-form-urlencoded', body)).toMatch(/^must not have/)
  })

  it.each([
    'application/x-www-form-urlencoded-x',
    'application/x-url-encoded',
    'application/vnd.own+urlencoded',
    'text/plain; a="application/x-www-form-urlencoded"',
    'text/plain; a="APPLICATION/X-WWW-FORM-URLENCODED"; charset=utf-8',
  ])('A body is checked as a form if readers look for a part of its type: %s', (contentType) => {
    expect(findPayloadFault(contentType, 'a=1&op=x')).toMatch(/may be read as op/)
    expect(findPayloadFault(contentType, 'a=1&b=x')).toBeUndefined()
  })

  it.each([
    'multipart/form-data; boundary=x',
    'multipart/related; boundary=x',
    'text/plain; boundary=x; a="multipart/form-data"',
    'application/x-multipart; boundary=x',
  ])('A body is refused where it has several parts: %s', (contentType) => {
    expect(findPayloadFault(contentType, '')).toMatch(/multipart/)
  })
})
