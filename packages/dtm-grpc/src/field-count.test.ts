import { describe, expect, it } from 'vitest'
import { FIELDS_MAX, hasTooManyFields, MalformedMessage } from './field-count.ts'

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
  ] as const)
    it(`A message with ${what} has ${isTooMany ? 'too many' : 'none too many'}`, () =>
      expect(hasTooManyFields(bytes, OPTIONS)).toBe(isTooMany))

  for (const [what, bytes] of [
    ['a length beyond its end', Buffer.from([0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['a length beyond its end in its options', within(OPTIONS, Buffer.from([0x2a, 1]))],
    ['a number of eight bytes beyond its end', Buffer.from([9, 0, 0, 0, 0, 0, 0, 0])],
    ['a number of four bytes beyond its end', Buffer.from([13, 0, 0, 0])],
    ['many groups', Buffer.alloc(MIB, 0x7b)],
    [
      'a group and many fields after it',
      Buffer.concat([Buffer.from([0x7b, 0x7c]), repeat(emptyField(5), MIB / 2 - 1)]),
    ],
    ['a group in its options', within(OPTIONS, Buffer.from([0x7b, 0x7c]))],
    ['an end of a group', Buffer.from([0x7c])],
    ['a field of type 6', Buffer.from([0x7e])],
    ['a field of type 7', Buffer.from([0x7f])],
    ['a field of number 0', Buffer.from([2, 0])],
    ['a tag of more than 32 bits', Buffer.from([0xaa, 0x80, 0x80, 0x80, 0x10, 0])],
    ['a tag without an end', Buffer.alloc(MIB, 0xff)],
    ['a number of more than ten bytes', Buffer.from('0880808080808080808080' + '01', 'hex')],
    ['a number without an end', Buffer.from([8, 0x80])],
  ] as const)
    it(`A message with ${what} is refused`, () =>
      expect(() => hasTooManyFields(bytes, OPTIONS)).toThrow(MalformedMessage))
})
