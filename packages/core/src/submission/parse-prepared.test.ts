/** Tests the fields that only the two kinds that are prepared first have. */
import { BRANCHES_MAX, DEADLINE_MS_MAX, DELAY_MS_MAX, PREPARED_MS } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { BRANCH, listFaults, parse } from '../../test/submissions.ts'

const TCC = { kind: 'tcc' }
const MESSAGE = { kind: 'message', branches: [BRANCH] }
const CHECK = { url: 'http://bank.test/query' }

function buildDefinition(body: unknown) {
  const parsed = parse(body)
  if (parsed.type === 'refused') throw new Error(JSON.stringify(parsed.faults))
  return parsed.submission.definition
}

describe('a TCC', () => {
  it('A TCC has its settings, and its deadline has a default', () => {
    expect(buildDefinition({ ...TCC, headers: { 'X-Tenant': 'blue' } })).toMatchObject({
      kind: 'tcc',
      deadlineMs: PREPARED_MS,
      headers: { 'x-tenant': 'blue' },
    })
    expect(PREPARED_MS).toBe(35_000)
    expect(buildDefinition({ ...TCC, deadlineMs: DEADLINE_MS_MAX })).toMatchObject({
      deadlineMs: DEADLINE_MS_MAX,
    })
  })

  it.each<[string, object, string]>([
    ['branches', { branches: [] }, 'SAGA_UNKNOWN_FIELD /branches'],
    ['a delay', { delayMs: 1 }, 'SAGA_UNKNOWN_FIELD /delayMs'],
    ['a check', { check: CHECK }, 'SAGA_UNKNOWN_FIELD /check'],
    ['no time', { deadlineMs: 0 }, 'SAGA_DEADLINE_INVALID /deadlineMs'],
    ['too long a time', { deadlineMs: DEADLINE_MS_MAX + 1 }, 'SAGA_DEADLINE_INVALID /deadlineMs'],
    ['a time that is null', { deadlineMs: null }, 'SAGA_DEADLINE_INVALID /deadlineMs'],
    ['a reserved header', { headers: { host: 'x' } }, 'SAGA_HEADER_INVALID /headers/host'],
  ])('with %s is refused', (_, fields, fault) => {
    expect(listFaults({ ...TCC, ...fields })).toEqual([fault])
  })
})

describe('a message', () => {
  it('A message is delivered in order and has no check by default', () => {
    expect(buildDefinition(MESSAGE)).toMatchObject({
      kind: 'message',
      concurrent: false,
      branches: [{ id: '01' }],
    })
    expect(buildDefinition(MESSAGE)).not.toHaveProperty('check')
    expect(buildDefinition(MESSAGE)).not.toHaveProperty('delayMs')
    expect(buildDefinition({ ...MESSAGE, delayMs: 0 })).not.toHaveProperty('delayMs')
    expect(buildDefinition({ ...MESSAGE, concurrent: true, delayMs: 5 })).toMatchObject({
      concurrent: true,
      delayMs: 5,
    })
  })

  it("A message's check has a default time and the headers of all calls", () => {
    expect(
      buildDefinition({ ...MESSAGE, headers: { a: '1', b: '2' }, check: { ...CHECK, headers: { B: '3' } } }),
    ).toMatchObject({
      check: { ...CHECK, afterMs: PREPARED_MS, headers: { a: '1', b: '3' } },
      branches: [{ headers: { a: '1', b: '2' } }],
    })
    expect(buildDefinition({ ...MESSAGE, check: { ...CHECK, afterMs: 1 } })).toMatchObject({
      check: { afterMs: 1 },
    })
  })

  it.each<[string, object, readonly string[]]>([
    ['no branches', { branches: undefined }, ['SAGA_NO_BRANCHES /branches']],
    ['an empty list', { branches: [] }, ['SAGA_NO_BRANCHES /branches']],
    ['branches that are no list', { branches: {} }, ['SAGA_INVALID /branches']],
    ['a branch that is none', { branches: [null] }, ['SAGA_INVALID /branches/0']],
    [
      'too many',
      { branches: Array.from({ length: BRANCHES_MAX + 1 }, () => BRANCH) },
      ['SAGA_TOO_MANY_BRANCHES /branches'],
    ],
    [
      'an id twice',
      {
        branches: [
          { ...BRANCH, id: 'a' },
          { ...BRANCH, id: 'a' },
        ],
      },
      ['SAGA_BRANCH_ID_DUPLICATE /branches/1/id'],
    ],
    [
      'a default id twice',
      { branches: [{ ...BRANCH, id: '02' }, BRANCH] },
      ['SAGA_BRANCH_ID_DUPLICATE /branches/1/id'],
    ],
    [
      'a compensation',
      { branches: [{ ...BRANCH, compensation: 'http://a/' }] },
      ['SAGA_UNKNOWN_FIELD /branches/0/compensation'],
    ],
    ['an order', { branches: [{ ...BRANCH, after: [] }] }, ['SAGA_UNKNOWN_FIELD /branches/0/after']],
    ['no URL', { branches: [{}] }, ['SAGA_URL_INVALID /branches/0/action']],
    ['a deadline', { deadlineMs: 5 }, ['SAGA_UNKNOWN_FIELD /deadlineMs']],
    ['a long delay', { delayMs: DELAY_MS_MAX + 1 }, ['SAGA_DELAY_INVALID /delayMs']],
    ['concurrent as a text', { concurrent: 'yes' }, ['SAGA_INVALID /concurrent']],
    ['concurrent as null', { concurrent: null }, ['SAGA_INVALID /concurrent']],
    ['a check that is none', { check: 'http://a/' }, ['SAGA_INVALID /check']],
    ['a check that is null', { check: null }, ['SAGA_INVALID /check']],
    ['a check without a URL', { check: {} }, ['SAGA_URL_INVALID /check/url']],
    ['a check that is no URL', { check: { url: 'x' } }, ['SAGA_URL_INVALID /check/url']],
    ['a check at once', { check: { ...CHECK, afterMs: 0 } }, ['SAGA_DEADLINE_INVALID /check/afterMs']],
    ['a check with a body', { check: { ...CHECK, body: 'x' } }, ['SAGA_UNKNOWN_FIELD /check/body']],
  ])('with %s is refused', (_, fields, faults) => {
    expect(listFaults({ ...MESSAGE, ...fields })).toEqual(faults)
  })
})
