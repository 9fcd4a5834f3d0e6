import { KEPT_VALUE_BYTES_MAX, PLAN_BYTES_MAX, STEPS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { PlanCallError } from '../errors.ts'
import { PLAN_CALL_DEPTH_MAX } from '../limits.ts'
import { parsePlanCall } from './parse-plan-call.ts'

const STEP = { id: 'reserve', is: 'step', name: 'reserve', slot: '~1', value: { id: 7 }, at: 1_000 }
const CALL = {
  id: 'charge',
  is: 'call',
  name: 'pay:/charges',
  failed: { code: 'DECLINED', message: 'no', details: [1] },
  at: 4_321,
}
const GOOD = {
  v: 1,
  gid: 'order-17',
  workflow: 'order',
  version: 1,
  generation: 1,
  plan: 3,
  acceptedAt: 1_000,
  at: 4_321,
  input: { cents: 5 },
  journal: [STEP, CALL],
  pending: [{ id: 'approved', is: 'signal', name: 'approval' }],
  grant: { from: 2, count: 8 },
  bytesLeft: 812_345,
}
const nest = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const withInput = (text: string) => JSON.stringify({ ...GOOD, input: 'INPUT' }).replace('"INPUT"', () => text)

describe('a plan call', () => {
  it('A plan call is read as it is, and began when it was accepted', () => {
    expect(parsePlanCall(JSON.stringify(GOOD))).toEqual({ ...GOOD, startAt: 1_000 })
  })

  it('The first plan of a workflow needs no version, no input and no grant', () => {
    const { version: _version, input: _input, grant: _grant, ...least } = GOOD
    expect(parsePlanCall(JSON.stringify(least))).toEqual({
      ...least,
      startAt: 1_000,
      grant: { from: 2, count: 0 },
    })
  })

  it('A delayed workflow begins later than it was accepted', () => {
    expect(parsePlanCall(JSON.stringify({ ...GOOD, startAt: 3_000 })).startAt).toBe(3_000)
  })

  it('A text with brackets is no depth', () => {
    const input = `${'['.repeat(100)}\\"{`
    expect(parsePlanCall(JSON.stringify({ ...GOOD, input })).input).toBe(input)
  })

  it('A property __proto__ of a value stays a property', () => {
    const { input } = parsePlanCall(withInput('{"__proto__":{"isAdmin":true}}'))
    expect(JSON.stringify(input)).toBe('{"__proto__":{"isAdmin":true}}')
    expect((input as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })
})

const change = (more: object) => JSON.stringify({ ...GOOD, ...more })
const entry = (more: object) => change({ journal: [{ ...STEP, ...more }] })
const waiting = (more: object) => change({ pending: [{ ...GOOD.pending[0], ...more }] })

describe('a hostile plan call', () => {
  it.each<[string, string, string]>([
    ['no JSON', '{', ''],
    ['HTML', '<html></html>', ''],
    ['nothing', '', ''],
    ['a list', '[]', ''],
    ['null', 'null', ''],
    ['over 1 MiB', withInput(`"${'x'.repeat(PLAN_BYTES_MAX)}"`), ''],
    ['over 1 MiB only in UTF-8', withInput(`"${'ü'.repeat(PLAN_BYTES_MAX / 2)}"`), ''],
    ['too deep', withInput(nest(PLAN_CALL_DEPTH_MAX)), ''],
    ['so deep that a walk would end the process', withInput(nest(500_000)), ''],
    ['an unknown field', change({ tenant: 'x' }), ''],
    ['a field __proto__', JSON.stringify(GOOD).replace('{', '{"__proto__":{"v":1},'), ''],
    ['another version of the wire', change({ v: 2 }), '/v'],
    ['a version as text', change({ version: '1' }), '/version'],
    ['no gid', change({ gid: undefined }), '/gid'],
    ['a gid with a space', change({ gid: 'order 17' }), '/gid'],
    ['a workflow without a name', change({ workflow: 7 }), '/workflow'],
    ['generation 0', change({ generation: 0 }), '/generation'],
    ['half a plan', change({ plan: 1.5 }), '/plan'],
    ['an instant beyond whole numbers', change({ at: 2 ** 53 }), '/at'],
    ['a negative instant', change({ acceptedAt: -1 }), '/acceptedAt'],
    ['a start before the accept', change({ startAt: 999 }), '/startAt'],
    ['a journal that is no list', change({ journal: {} }), '/journal'],
    ['an entry that is no object', change({ journal: [null] }), '/journal/0'],
    ['an entry with an unknown field', entry({ skipped: true }), '/journal/0'],
    ['an id with a slash', entry({ id: 'a/b' }), '/journal/0/id'],
    ['an unknown kind', entry({ is: 'child' }), '/journal/0/is'],
    ['a kind of the prototype', entry({ is: 'constructor' }), '/journal/0/is'],
    ['a name that is no text', entry({ name: ['a'] }), '/journal/0/name'],
    ['a name that is too long', entry({ name: 'x'.repeat(2_049) }), '/journal/0/name'],
    ['a step without a slot', entry({ slot: undefined }), '/journal/0/slot'],
    ['slot 0', entry({ slot: '~0' }), '/journal/0/slot'],
    ['a slot of too many digits', entry({ slot: '~1000000000' }), '/journal/0/slot'],
    ['a slot of a call', entry({ is: 'call' }), '/journal/0/slot'],
    ['a value and a failure', entry({ failed: CALL.failed }), '/journal/0'],
    ['a value over its bound', entry({ value: 'x'.repeat(KEPT_VALUE_BYTES_MAX) }), '/journal/0/value'],
    [
      'a failure without a code',
      entry({ value: undefined, failed: { message: 'no' } }),
      '/journal/0/failed/code',
    ],
    [
      'a failure without a message',
      entry({ value: undefined, failed: { code: 'A' } }),
      '/journal/0/failed/message',
    ],
    [
      'a failure over its bound',
      entry({ value: undefined, failed: { ...CALL.failed, message: 'x'.repeat(KEPT_VALUE_BYTES_MAX) } }),
      '/journal/0/failed',
    ],
    ['an entry without an instant', entry({ at: undefined }), '/journal/0/at'],
    ['a run that is pending', waiting({ is: 'run' }), '/pending/0/is'],
    ['a patch that is pending', waiting({ is: 'patch' }), '/pending/0/is'],
    ['a pending entry with a value', waiting({ value: 1 }), '/pending/0'],
    ['one id twice', waiting({ id: 'reserve' }), ''],
    ['one slot twice', waiting({ is: 'step', slot: '~1' }), ''],
    [
      'too many entries',
      change({
        pending: Array.from({ length: STEPS_MAX }, (_, at) => ({ id: `p${at}`, is: 'call', name: '' })),
      }),
      '',
    ],
    ['a grant of a slot that is there', change({ grant: { from: 1, count: 8 } }), '/grant/from'],
    ['a grant of 33 slots', change({ grant: { from: 2, count: 33 } }), '/grant/count'],
    ['a grant of no number', change({ grant: { from: 2 } }), '/grant/count'],
    ['bytes that are no number', change({ bytesLeft: null }), '/bytesLeft'],
  ])('%s is refused', (_title, text, path) => {
    expect(() => parsePlanCall(text)).toThrow(PlanCallError)
    expect(() => parsePlanCall(text)).toThrow(
      expect.objectContaining({ code: 'WORKFLOW_CALL_INVALID', path }),
    )
  })
})
