import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX } from './limits.ts'
import { mayBeHandedOn } from './may-be-handed-on.ts'

describe('what may be handed on', () => {
  it.each([
    ['{"a":1}'],
    ['"__proto__"'],
    ['["__proto__","constructor","prototype"]'],
    ['{"constructor":"Ferrari","prototype":true}'],
    ['{"constructor":{"name":"Ferrari"},"prototype":true}'],
    ['{"constructor":[{"prototype":1}]}'],
    ['{"constructor":{"a":{"prototype":1}}}'],
    ['{"constructor":1,"a":{"prototype":1}}'],
    ['{"a":"\\"__proto__\\":1"}'],
    ['{"\\u005f_proto":1,"__proto___":2}'],
    ['['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX)],
    [`"${'['.repeat(JSON_DEPTH_MAX + 1)}"`],
  ])('%s may', (json) => expect(mayBeHandedOn(json)).toBe(true))

  it.each([
    ['{"__proto__":1}'],
    ['{"a":[{"b":{"__proto__":null}}]}'],
    ['{"__proto__" \t\n\r : 1}'],
    ['{"\\u005f_proto__":1}'],
    ['{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}'],
    ['{"constructor":{"prototype":1}}'],
    ['{"constructor" : {"a":{"b":1},"prototype":{}}}'],
    ['{"constructo\\u0072":{"\\u0070rototype":1}}'],
    ['['.repeat(JSON_DEPTH_MAX + 1) + ']'.repeat(JSON_DEPTH_MAX + 1)],
  ])('%s may not', (json) => expect(mayBeHandedOn(json)).toBe(false))

  it('It judges as a walk of the parsed value does', () => {
    const names = fc.constantFrom('__proto__', 'constructor', 'prototype', 'a', 'constructors', '\\"', '')
    const escaped = fc.boolean()
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('1', 'null', '"__proto__"', '" \\\\"', '[]', '{}'),
        fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
        fc
          .uniqueArray(fc.tuple(names, escaped, tie('value')), { maxLength: 3, selector: ([name]) => name })
          .map(
            (items) =>
              `{${items.map(([name, isEscaped, item]) => `${writeName(name, isEscaped)} :${item}`).join(',')}}`,
          ),
      ),
    }))
    void fc.assert(
      fc.property(value, (json) => {
        expect(mayBeHandedOn(json), json).toBe(!reachesPrototype(JSON.parse(json)))
      }),
      { numRuns: 5_000 },
    )
  })

  it('S40: A text of 64 KiB with tens of thousands of objects and an escape is judged in milliseconds', () => {
    const json = `[${'{},'.repeat(21_000)}"\\u0061"]`
    const before = process.cpuUsage()
    expect(mayBeHandedOn(json)).toBe(true)
    expect(process.cpuUsage(before).user).toBeLessThan(50_000)
  })
})

function writeName(name: string, isEscaped: boolean): string {
  if (!isEscaped || name.includes('\\')) return `"${name}"`
  return `"${[...name].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
}

function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, inner]) =>
      key === '__proto__' ||
      (key === 'constructor' &&
        typeof inner === 'object' &&
        inner !== null &&
        Object.hasOwn(inner, 'prototype')) ||
      reachesPrototype(inner),
  )
}
