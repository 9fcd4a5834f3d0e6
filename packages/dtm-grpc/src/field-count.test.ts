import { describe, expect, it } from 'vitest'
import { FIELDS_MAX, hasTooManyFields } from './field-count.ts'

const OPTIONS = 3
const MIB = 1_024 * 1_024
const emptyField = (number: number) => Buffer.from([(number << 3) | 2, 0])
const repeat = (field: Buffer, times: number) => Buffer.alloc(field.length * times, field)

function within(number: number, content: Buffer): Buffer {
  const head = [(number << 3) | 2]
  let length = content.length
  for (; length > 127; length >>= 7) head.push((length & 127) | 128)
  return Buffer.concat([Buffer.from([...head, length]), content])
}

describe('the number of fields of a message', () => {
  for (const [what, bytes, isTooMany] of [
    ['no field', Buffer.alloc(0), false],
    ['as many empty fields as there may be', repeat(emptyField(5), FIELDS_MAX), false],
    ['one more', repeat(emptyField(5), FIELDS_MAX + 1), true],
    ['as many in its options', within(OPTIONS, repeat(emptyField(5), FIELDS_MAX - 1)), false],
    ['one more in its options', within(OPTIONS, repeat(emptyField(5), FIELDS_MAX)), true],
    ['many options', repeat(within(OPTIONS, repeat(emptyField(5), 10)), 100), true],
    ['a payload that looks like fields', within(5, repeat(emptyField(5), 10_000)), false],
    [
      'numbers of all kinds',
      Buffer.from('08ffffffffffffffffff0109000000000000000015000000001a00', 'hex'),
      false,
    ],
    ['a length beyond its end', Buffer.from([0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f]), false],
    ['a group', Buffer.alloc(MIB, 0x7b), false],
    ['a tag without an end', Buffer.alloc(MIB, 0xff), false],
  ] as const)
    it(`A message with ${what} has ${isTooMany ? 'too many' : 'none too many'}`, () =>
      expect(hasTooManyFields(bytes, OPTIONS)).toBe(isTooMany))
})
