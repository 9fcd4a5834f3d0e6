import { findJsonFault, isCounterstepError, isExactNumber } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../src/json/parse-json.ts'

/**
 * All long texts together take a quarter of a second. It is CPU time, because the test may wait for a core while others run.
 * Work in proportion to the square of the length would take minutes for each text.
 */
const CPU_MS_MAX = 5_000

const parse = (text: string) => parseJson(Buffer.from(text))

function readRefusal(text: string | Buffer): unknown {
  try {
    parseJson(Buffer.from(text))
    return undefined
  } catch (error) {
    if (isCounterstepError(error) && 'faults' in error) return error.faults
    throw error
  }
}

describe('a number', () => {
  for (const literal of [
    '0',
    '-0',
    '0.1',
    '1.0',
    '1e2',
    '1E+2',
    '5e-324',
    '9007199254740991',
    '9007199254740992',
    '1e23',
    '123456789012345680000',
    '0.10000000000000000',
    '1.7976931348623157e308',
    '0e999999',
    '100000000000000000000000',
  ]) {
    it(`The number ${literal} is accepted`, () =>
      expect(parse(`{"a":${literal}}`)).toEqual({ a: Number(literal) }))
  }

  for (const literal of [
    '9007199254740993',
    '0.1000000000000000055',
    '1e400',
    '-1e400',
    '1e-400',
    '3.14159265358979323846',
    '12345678901234567890',
    '1.7976931348623159e308',
  ]) {
    it(`The number ${literal} is refused with its place`, () => {
      const message = 'a double cannot hold this number exactly; send it as a string'
      expect(readRefusal(`{"a":[1,{"b/c~":${literal}}]}`)).toEqual([
        { code: 'SAGA_NUMBER_NOT_EXACT', path: '/a/1/b~1c~0', message },
      ])
    })
  }

  it.each([
    ['levels', `${'['.repeat(500_000)}1e400${']'.repeat(500_000)}`],
    ['a key', `{"${'~/'.repeat(250_000)}":1e400}`],
  ])('S41: The path of its place is cut where a body has %s of its own length', (_what, text) => {
    const cpu = process.cpuUsage()
    const faults = readRefusal(text)
    expect(JSON.stringify(faults).length).toBeLessThan(1_000)
    expect(faults).toMatchObject([{ code: 'SAGA_NUMBER_NOT_EXACT', path: expect.stringMatching(/…$/) }])
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(CPU_MS_MAX)
  })

  it('A number is exact whenever JavaScript printed it', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(fc.property(double, (value) => isExactNumber(String(value).replace('e+', 'e'))))
  })

  it('The check of a number agrees with exact decimal arithmetic on any literal', () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,24})$/)
    const fraction = fc.option(fc.stringMatching(/^[0-9]{1,24}$/))
    const exponent = fc.option(fc.integer({ min: -30, max: 30 }))
    fc.assert(
      fc.property(digits, fraction, exponent, (whole, part, power) => {
        const literal = whole + (part === null ? '' : `.${part}`) + (power === null ? '' : `e${power}`)
        expect(isExactNumber(literal)).toBe(scale(literal) === scale(String(Number(literal))))
      }),
    )
  })

  it('A number is judged alike by the fast and the slow check', () => {
    const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/)
    const filler = fc.constantFrom('', ' ', '\n', '\t')
    fc.assert(
      fc.property(fc.array(number, { maxLength: 5 }), filler, (numbers, blank) => {
        const text = `{"a":${blank}[${numbers.join(`,${blank}`)}]}`
        expect(readRefusal(text) === undefined).toBe(findJsonFault(text) === undefined)
      }),
      { numRuns: 500 },
    )
  })

  it('A number in a string is only text', () => {
    const text = JSON.stringify({
      a: ' 9007199254740993',
      b: ':1e400,',
      c: '\\" 9007199254740993 \\',
      'x 1e999': [],
    })
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it('A number of a megabyte is judged in linear time', () => {
    const before = process.cpuUsage()
    expect(readRefusal(`[${'1'.repeat(1_000_000)}]`)).toHaveLength(1)
    expect(readRefusal(`[0.${'0'.repeat(1_000_000)}1]`)).toHaveLength(1)
    expect(readRefusal(`["${'\\"1 '.repeat(200_000)}",1e2]`)).toBeUndefined()
    expect(readRefusal(`${'['.repeat(400_000)}1e400${']'.repeat(400_000)}`)).toHaveLength(1)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX)
  })
})

/** Returns the value times 10^400, as an exact integer. */
function scale(literal: string): bigint {
  const [mantissa = '', power = '0'] = literal.split('e')
  const [whole = '', part = ''] = mantissa.split('.')
  return BigInt(whole + part) * 10n ** BigInt(400 - part.length + Number(power))
}

describe('a body', () => {
  it('A body that JSON.parse accepts gives the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        fc.pre(findJsonFault(text) === undefined)
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  for (const text of ['', ' ', '{', '{"a":}', '{"a":1}x', "{'a':1}", '[1,]', '01', '\uFEFF{}', 'undefined']) {
    it(`The body ${JSON.stringify(text)} is malformed, and the refusal does not quote it`, () => {
      const message = 'the body is not valid JSON'
      expect(readRefusal(text)).toEqual([{ code: 'SAGA_MALFORMED_JSON', path: '', message }])
    })
  }

  it('A body that is not UTF-8 is refused', () => {
    const bytes = Buffer.from([0x22, 0xc3, 0x28, 0x22])
    expect(readRefusal(bytes)).toMatchObject([{ code: 'SAGA_MALFORMED_JSON' }])
    expect(parse('"\uFFFD"')).toBe('\uFFFD')
  })

  const poisons = [
    ['{"__proto__":{"x":1}}', '/__proto__'],
    ['{"a":[{"\\u005f_proto__":1}]}', '/a/0/__proto__'],
    ['{"a":{"constructor":{"prototype":{"x":1}}}}', '/a/constructor/prototype'],
    ['{"a":{"c\\u006fnstructor":{"protot\\u0079pe":{"x":1}}}}', '/a/constructor/prototype'],
  ] as const
  for (const [text, path] of poisons) {
    it(`The body ${text} is refused with the place of the key`, () => {
      expect(readRefusal(text)).toMatchObject([{ code: 'SAGA_INVALID', path }])
      expect(({} as { x?: unknown }).x).toBeUndefined()
    })
  }

  it('A body may have dangerous names as values, and constructor or prototype alone as keys', () => {
    const text = '{"a":"__proto__","constructor":1,"prototype":{"constructor":[{"prototype":2}]}}'
    expect(parse(text)).toEqual(JSON.parse(text))
  })
})
