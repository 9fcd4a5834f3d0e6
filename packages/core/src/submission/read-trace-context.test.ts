import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getTraceId, readTraceContext } from './read-trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const PARENT = `00-${TRACE}-${SPAN}-01`

const INVALID: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['an empty text', ''],
  ['capitals', PARENT.toUpperCase()],
  ['one capital in the trace', `00-${TRACE.replace('f', 'F')}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that is forbidden', `ff-${TRACE}-${SPAN}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long trace', `00-${TRACE}a-${SPAN}-01`],
  ['a short span', `00-${TRACE}-${SPAN.slice(1)}-01`],
  ['no flags', `00-${TRACE}-${SPAN}`],
  ['flags of one digit', `00-${TRACE}-${SPAN}-1`],
  ['more than this version has', `${PARENT}-more`],
  ['a later version with more, but no dash', `01-${TRACE}-${SPAN}-01more`],
  ['a space before it', ` ${PARENT}`],
  ['a line end behind it', `${PARENT}\r\nx-evil: 1`],
  ['two values that were joined', `${PARENT}, ${PARENT}`],
  ['another separator', PARENT.replaceAll('-', '_')],
  ['digits of another script', PARENT.replace('0', '٠')],
  ['10 KiB', PARENT.padEnd(10_240, '0')],
  ['a list', [PARENT]],
]

describe('readTraceContext', () => {
  it('A valid parent is read as it is', () => {
    expect(readTraceContext(PARENT)).toEqual({ parent: PARENT })
    expect(getTraceId({ parent: PARENT })).toBe(TRACE)
  })

  it.each(INVALID)('There is no context for a parent with %s', (_, parent) => {
    expect(readTraceContext(parent, 'vendor=1')).toBeUndefined()
  })

  it.each([
    ['a later version', `01-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    ['a later version with more', `cc-${TRACE}-${SPAN}-01-what-comes-later`, `00-${TRACE}-${SPAN}-01`],
    ['flags that are not known', `00-${TRACE}-${SPAN}-fe`, `00-${TRACE}-${SPAN}-02`],
    ['no flag', `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  ])('It is handed on in this version with %s', (_, given, parent) => {
    expect(readTraceContext(given)).toEqual({ parent })
  })

  it.each([
    ['one member', 'vendor=1', 'vendor=1'],
    ['spaces around', ' a=1 ,\tb=2\t', 'a=1,b=2'],
    ['empty members', 'a=1,,b=2,', 'a=1,b=2'],
    ['a tenant', 'fw529a3039@dt=FfAw;b', 'fw529a3039@dt=FfAw;b'],
    ['a space within a value', 'a=b c', 'a=b c'],
    ['the longest key', `${'k'.repeat(256)}=v`, `${'k'.repeat(256)}=v`],
    ['32 members', members(32), members(32)],
  ])('The state is kept with %s', (_, given, state) => {
    expect(readTraceContext(PARENT, given)).toEqual({ parent: PARENT, state })
  })

  it.each([
    ['nothing in it', ''],
    ['commas alone', ',,,'],
    ['no equals sign', 'vendor'],
    ['no key', '=1'],
    ['no value', 'vendor='],
    ['a capital in a key', 'Vendor=1'],
    ['a key that begins with a sign', '_v=1'],
    ['a key of 257 characters', `${'k'.repeat(257)}=v`],
    ['a value of 257 characters', `k=${'v'.repeat(257)}`],
    ['an equals sign in a value', 'a=b=c'],
    ['a line end', 'a=1\r\nx-evil: 1'],
    ['a letter that is not ASCII', 'a=ü'],
    ['the same key twice', 'a=1,a=2'],
    ['33 members', members(33)],
    ['1,000 members', members(1_000)],
    ['10 KiB', `a=${'v'.repeat(10_240)}`],
  ])('The trace goes on without a state that has %s', (_, state) => {
    expect(readTraceContext(PARENT, state)).toEqual({ parent: PARENT })
  })

  it('Of a state that is too long the long members go first, then the last ones', () => {
    const long = `long=${'v'.repeat(200)}`
    const short = members(30, 20)
    const { state = '' } = readTraceContext(PARENT, `${long},${short}`) ?? {}
    expect(state.length).toBeLessThanOrEqual(512)
    expect(short.startsWith(state)).toBe(true)
    expect(state.length).toBeGreaterThan(512 - 25)
  })

  it('Whatever comes, the result can stand in a header and is bounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (parent, state) => {
        const read = readTraceContext(parent, state) ?? readTraceContext(PARENT, state)
        expect(`${read?.parent},${read?.state ?? ''}`).toMatch(/^[\x20-\x7e]{55,568}$/)
      }),
    )
  })
})

function members(count: number, length = 1): string {
  return Array.from({ length: count }, (_, at) => `k${at}=${'v'.repeat(length)}`).join(',')
}
