import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyJson, countUtf8Bytes } from './json-text.ts'

describe('bytes of a text', () => {
  it('They are those of UTF-8, also for halves of pairs', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.integer({ min: 0xd700, max: 0xe100 })),
        (text, units) => {
          const whole = text + String.fromCharCode(...units)
          expect(countUtf8Bytes(whole)).toBe(Buffer.byteLength(whole))
        },
      ),
      { seed: 37 },
    )
  })
})

describe('a copy through JSON', () => {
  it.each<[string, unknown, object]>([
    ['a Date', new Date(0), { value: '1970-01-01T00:00:00.000Z', bytes: 26 }],
    ['undefined', undefined, { value: undefined, bytes: 0 }],
    ['null', null, { value: null, bytes: 4 }],
    ['a missing property', { a: undefined, b: 'ü' }, { value: { b: 'ü' }, bytes: 10 }],
    ['a function', () => 1, { fault: 'is a function, no JSON' }],
    ['a symbol', Symbol('s'), { fault: 'is a symbol, no JSON' }],
    ['a value over its bound', 'x'.repeat(40), { fault: 'has 42 bytes as JSON, at most 40 are kept' }],
  ])('%s', (_title, value, copy) => {
    expect(copyJson(value, 40)).toEqual(copy)
  })

  it('What JSON refuses is a fault and no error', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect(copyJson(circle, 40)).toEqual({ fault: expect.stringContaining('is no JSON: ') })
    expect(copyJson(1n, 40)).toEqual({ fault: expect.stringContaining('is no JSON: ') })
  })
})
