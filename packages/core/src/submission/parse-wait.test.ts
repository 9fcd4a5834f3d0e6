import { SIGNAL_BYTES_MAX, SIGNAL_ID_LENGTH_MAX, WAIT_END_MS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { accepted, BRANCH, listFaults } from '../../test/submissions.ts'
import { parseSignal } from './parse-signal.ts'

const UNDO = 'http://bank.test/undo'

function listWaitFaults(wait: unknown, more: object = {}): readonly string[] {
  return listFaults({
    branches: [
      { id: 'a', ...BRANCH },
      { id: 'w', wait, ...more },
    ],
  })
}

function listRoleFaults(...branches: readonly object[]): readonly string[] {
  return listFaults({
    branches: branches.map((branch) => ('wait' in branch ? branch : { ...BRANCH, ...branch })),
  })
}

describe('A branch that waits', () => {
  it.each([
    [{ ms: 0 }, { type: 'ms', ms: 0 }],
    [{ ms: WAIT_END_MS_MAX }, { type: 'ms', ms: WAIT_END_MS_MAX }],
    [{ until: 1_800_000_000_000 }, { type: 'until', until: 1_800_000_000_000 }],
    [{ until: '2027-01-15T08:00:00Z' }, { type: 'until', until: 1_800_000_000_000 }],
    [{ until: '2027-01-15T09:00:00.000+01:00' }, { type: 'until', until: 1_800_000_000_000 }],
    [{ signal: 'approval' }, { type: 'signal', name: 'approval', onTimeout: 'abort' }],
    [
      { signal: 'approval', timeoutMs: 5, onTimeout: 'continue' },
      { type: 'signal', name: 'approval', timeoutMs: 5, onTimeout: 'continue' },
    ],
  ])('The wait %j is accepted', (wait, expected) => {
    const [branch] = accepted({ branches: [{ id: 'w', wait }] }).definition.branches
    expect(branch).toMatchObject({ action: '', wait: expected })
  })

  it('A time of the input is known at once, and one of a branch is read when the wait opens', () => {
    const { branches } = accepted({
      input: { ms: 7, at: '2027-01-15T08:00:00Z' },
      branches: [
        { id: 'a', ...BRANCH },
        { id: 'b', wait: { ms: { $input: '/ms' } } },
        { id: 'c', wait: { until: { $input: '/at' } } },
        { id: 'd', wait: { ms: { $from: 'a', at: '/ms', else: 5 } } },
      ],
    }).definition
    expect(branches.slice(1).map(({ wait }) => wait)).toEqual([
      { type: 'ms', ms: 7 },
      { type: 'until', until: 1_800_000_000_000 },
      { type: 'ms', ms: { from: 0, value: 0, else: '5' } },
    ])
  })

  it.each([
    [{}, '/branches/1/wait'],
    [null, '/branches/1/wait'],
    [{ ms: 1, signal: 'x' }, '/branches/1/wait'],
    [{ ms: -1 }, '/branches/1/wait/ms'],
    [{ ms: 1.5 }, '/branches/1/wait/ms'],
    [{ ms: '5' }, '/branches/1/wait/ms'],
    [{ ms: WAIT_END_MS_MAX + 1 }, '/branches/1/wait/ms'],
    [{ ms: { $from: 'a', else: 'soon' } }, '/branches/1/wait/ms'],
    [{ until: 'tomorrow' }, '/branches/1/wait/until'],
    [{ until: '2027-01-15T08:00:00' }, '/branches/1/wait/until'],
    [{ until: '2027-13-15T08:00:00Z' }, '/branches/1/wait/until'],
    [{ until: '2027-02-29T08:00:00Z' }, '/branches/1/wait/until'],
    [{ until: -1 }, '/branches/1/wait/until'],
    [{ until: 8_640_000_000_000_001 }, '/branches/1/wait/until'],
    [{ signal: 'a b' }, '/branches/1/wait/signal'],
    [{ signal: 7 }, '/branches/1/wait/signal'],
    [{ signal: '.' }, '/branches/1/wait/signal'],
    [{ signal: '..' }, '/branches/1/wait/signal'],
    [{ signal: { toString: null } }, '/branches/1/wait/signal'],
    [{ signal: 'x', timeoutMs: 0 }, '/branches/1/wait/timeoutMs'],
    [{ signal: 'x', onTimeout: 'stop' }, '/branches/1/wait/onTimeout'],
  ])('The wait %j is refused at its place', (wait, path) => {
    expect(listWaitFaults(wait)).toEqual([`SAGA_WAIT_INVALID ${path}`])
  })

  it('A wait takes no field of a call, and no field that is unknown', () => {
    expect(listWaitFaults({ ms: 1 }, { action: UNDO, role: 'pivot' })).toEqual([
      'SAGA_UNKNOWN_FIELD /branches/1/action',
      'SAGA_UNKNOWN_FIELD /branches/1/role',
    ])
    expect(listWaitFaults({ ms: 1, timeoutMs: 5 })).toEqual(['SAGA_UNKNOWN_FIELD /branches/1/wait/timeoutMs'])
  })

  it('A timer has no answer, and a signal that may not come needs an else', () => {
    const using = (wait: object, reference: object) =>
      listFaults({
        branches: [
          { id: 'w', wait },
          { id: 'b', ...BRANCH, template: { $from: 'w', ...reference } },
        ],
      })
    expect(using({ ms: 1 }, {})).toEqual(['SAGA_REFERENCE_UNKNOWN /branches/1/template/$from'])
    expect(using({ signal: 'x', onTimeout: 'continue' }, {})).toEqual([
      'SAGA_REFERENCE_NEEDS_ELSE /branches/1/template',
    ])
    expect(using({ signal: 'x', onTimeout: 'continue' }, { else: null })).toEqual([])
    expect(using({ signal: 'x' }, {})).toEqual([])
  })

  it('Timers one after the other may take 30 days together, and beside each other as well', () => {
    const half = { ms: WAIT_END_MS_MAX / 2 }
    const waits = (after: readonly string[], delayMs: number) =>
      listFaults({
        delayMs,
        branches: [
          { id: 'a', wait: half },
          { id: 'b', wait: half, after: ['a'] },
          { id: 'c', wait: half, after },
        ],
      })
    expect(waits(['a'], 0)).toEqual([])
    expect(waits(['b'], 0)).toEqual(['SAGA_WAIT_INVALID /branches/2/wait'])
    expect(waits(['a'], 1)).toEqual(['SAGA_WAIT_INVALID /branches/1/wait'])
  })
})

describe('The role of a branch', () => {
  const PIVOT = { id: 'p', role: 'pivot' }
  const SURE = { id: 's', role: 'retriable' }

  it('Roles in their order are accepted, with timers anywhere', () => {
    expect(
      listRoleFaults({ compensation: UNDO, role: 'compensable' }, { wait: { ms: 1 } }, PIVOT, SURE),
    ).toEqual([])
    expect(listRoleFaults({}, SURE, { id: 'w', wait: { signal: 'x', onTimeout: 'continue' } })).toEqual([])
  })

  it.each([
    ['an unknown role', [{ role: 'sure' }], '/branches/0/role'],
    ['a second pivot', [PIVOT, { ...PIVOT, id: 'q' }], '/branches/1/role'],
    ['a pivot with a compensation', [{ ...PIVOT, compensation: UNDO }], '/branches/0/compensation'],
    ['a retriable with a retry limit', [{ ...SURE, retry: { limit: 3 } }], '/branches/0/retry/limit'],
    ['a compensable behind the pivot', [PIVOT, { id: 'c' }], '/branches/0/role'],
    ['a compensable beside the pivot', [{ id: 'c' }, { ...PIVOT, after: [] }], '/branches/1/role'],
    ['a retriable before the pivot', [SURE, PIVOT], '/branches/0/role'],
    [
      'a wait that may abort behind the pivot',
      [PIVOT, { id: 'w', wait: { signal: 'x' } }],
      '/branches/0/role',
    ],
  ])('The role is refused for %s', (_, branches, path) => {
    expect(listRoleFaults(...branches)).toEqual([`SAGA_ROLE_INVALID ${path}`])
  })

  it('A limit of the whole saga may stand beside roles', () => {
    expect(
      listFaults({ retry: { limit: 3 }, branches: [{ ...BRANCH, ...PIVOT, retry: { capMs: 900 } }] }),
    ).toEqual([])
  })
})

describe('The body of a signal', () => {
  it('A signal has an id and may have a payload', () => {
    expect(parseSignal('approval', { id: 'click-8', payload: { by: 'kim' } })).toEqual({
      type: 'parsed',
      signal: { name: 'approval', id: 'click-8', payload: '{"by":"kim"}' },
      content: '["approval",[{"by":"kim"}]]',
    })
  })

  it('A signal without a payload, with null and with an empty list are three contents', () => {
    const contents = [{}, { payload: null }, { payload: [] }].map((body) => {
      const parsed = parseSignal('a', { id: '1', ...body })
      return parsed.type === 'parsed' ? parsed.content : undefined
    })
    expect(new Set(contents).size).toBe(3)
  })

  const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)
  it.each([
    [null, 'SAGA_SIGNAL_INVALID', ''],
    [{}, 'SAGA_SIGNAL_INVALID', '/id'],
    [{ id: '' }, 'SAGA_SIGNAL_INVALID', '/id'],
    [{ id: 'a b' }, 'SAGA_SIGNAL_INVALID', '/id'],
    [{ id: 'ä' }, 'SAGA_SIGNAL_INVALID', '/id'],
    [{ id: 'x'.repeat(SIGNAL_ID_LENGTH_MAX + 1) }, 'SAGA_SIGNAL_INVALID', '/id'],
    [{ id: 'x', payload: 'ä'.repeat(SIGNAL_BYTES_MAX / 2) }, 'SAGA_SIGNAL_INVALID', '/payload'],
    [{ id: 'x', payload: deep }, 'SAGA_PAYLOAD_TOO_DEEP', '/payload'],
    [{ id: 'x', name: 'y' }, 'SAGA_UNKNOWN_FIELD', '/name'],
  ])('The body %j is refused with its code', (body, code, path) => {
    const parsed = parseSignal('approval', body)
    expect(parsed).toMatchObject({ type: 'refused' })
    if (parsed.type === 'refused')
      expect(parsed.faults.map((each) => [each.code, each.path])).toContainEqual([code, path])
  })
})
