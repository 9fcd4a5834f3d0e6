import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonValues, readPointer } from './find-json-values.ts'

function find(text: string, pointer: string): string | null {
  return findJsonValues(text, [pointer])[0] ?? null
}

describe('findJsonValues', () => {
  it.each([
    ['{"a":1.10}', '/a', '1.10'],
    [' { "a" : [ 1 , { "b" : "x\\"y" } ] } ', '/a/1/b', '"x\\"y"'],
    [
      '{"a":12345678901234567890123456789012345678901.50}',
      '/a',
      '12345678901234567890123456789012345678901.50',
    ],
    ['{"a":-1e400}', '/a', '-1e400'],
    ['[[],[0]]', '/1/0', '0'],
    ['"text"', '', '"text"'],
    [' null ', '', 'null'],
    ['{"":{"":2}}', '//', '2'],
    ['{"a/b":1,"c~d":2}', '/a~1b', '1'],
    ['{"a/b":1,"c~d":2}', '/c~0d', '2'],
    ['{"\\u0061":3}', '/a', '3'],
    ['{"a":null}', '/a', 'null'],
    ['{"__proto__":{"x":1}}', '/__proto__/x', '1'],
    ['{"a":1,"a":2}', '/a', '2'],
    ['{"a":{"b":[{"c":true}]},"z":0}', '/a/b', '[{"c":true}]'],
  ])('The text of a value is found as it stands: %s at %s is %s', (text, pointer, expected) => {
    expect(find(text, pointer)).toBe(expected)
  })

  it.each([
    ['{"a":1}', '/b'],
    ['{"a":1}', '/a/b'],
    ['{"a":"text"}', '/a/length'],
    ['[1]', '/1'],
    ['[1]', '/-'],
    ['[1]', '/00'],
    ['[1]', '/length'],
    ['{}', '/__proto__'],
    ['{}', '/constructor'],
    ['{"a":{"b":1},"a":{}}', '/a/b'],
    ['{"a":1', '/a'],
    ['', ''],
    ['<html>', ''],
  ])('A pointer to nothing finds null: %s at %s', (text, pointer) => {
    expect(find(text, pointer)).toBeNull()
  })

  it('Every value of any JSON is found by its pointer, and pointers do not disturb each other', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 2 }), (compact, indent) => {
        const root: unknown = JSON.parse(compact)
        const text = JSON.stringify(root, null, indent)
        const all = listValues(root)
        const found = findJsonValues(
          text,
          all.map(([pointer]) => pointer),
        )
        expect(found.map((each) => (each === null ? undefined : JSON.parse(each)))).toEqual(
          all.map(([, value]) => value),
        )
      }),
    )
  })

  it('A name that is repeated in the whole answer costs little, however many pointers lead through it', () => {
    const pointers = Array.from({ length: 200 }, (_, index) => `/a/${index}${'/x'.repeat(30)}`)
    const text = `{${'"a":1,'.repeat(10_000)}"a":{"7":1}}`
    expect(findJsonValues(text, [...pointers, '/a/7'])).toEqual([...pointers.map(() => null), '1'])
  }, 2_000)

  it('An answer that is nested as deep as it can be is skipped without an overflow of the stack', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    expect(findJsonValues(`{"deep":${deep},"a":1}`, ['/a', '/deep'])).toEqual(['1', deep])
  })
})

describe('readPointer', () => {
  it.each(['a', 'a/b', '/~', '/~2', '#/a'])('A text that is no pointer is told from one: %s', (text) => {
    expect(readPointer(text)).toBeUndefined()
  })
})

/** Lists each value with its pointer. An object with `__proto__` as a name is left out, because a copy would lose it. */
function listValues(value: unknown, pointer = ''): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [[pointer, value]]
  const members = Object.entries(value).flatMap(([name, member]) =>
    listValues(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
  return [[pointer, value], ...members]
}
