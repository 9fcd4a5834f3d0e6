import { describe, expect, it } from 'vitest'
import { MalformedMessage } from './call-error.ts'
import { FIELDS_MAX, hasTooManyFields } from './field-count.ts'
import { buildRequestShape } from './message-shape.ts'

const SHAPE = buildRequestShape('Submit')
const OPTIONS = 3
const EXTRA = 8
/** No field has this number. */
const UNKNOWN = 14
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
    ['one more in a pair', within(EXTRA, repeat(emptyField(1), FIELDS_MAX)), true],
    [
      'one more in a pair of its options',
      within(OPTIONS, within(5, repeat(emptyField(1), FIELDS_MAX))),
      true,
    ],
    [
      'numbers of all kinds',
      Buffer.concat([
        within(OPTIONS, Buffer.from('080110ffffffffffffffffff01', 'hex')),
        Buffer.from('70ffffffffffffffffff017100000000000000007500000000', 'hex'),
        emptyField(UNKNOWN),
      ]),
      false,
    ],
  ] as const)
    it(`A message with ${what} has ${isTooMany ? 'too many' : 'none too many'}`, () =>
      expect(hasTooManyFields(bytes, SHAPE)).toBe(isTooMany))

  for (const [what, bytes] of [
    ['a length beyond its end', Buffer.from([0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['a length beyond its end in its options', within(OPTIONS, Buffer.from([0x2a, 1]))],
    ['a number of eight bytes beyond its end', Buffer.from([(UNKNOWN << 3) | 1, 0, 0, 0, 0, 0, 0, 0])],
    ['a number of four bytes beyond its end', Buffer.from([(UNKNOWN << 3) | 5, 0, 0, 0])],
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
    ['a number of more than ten bytes', Buffer.from('708080808080808080808001', 'hex')],
    ['bytes where a number belongs', within(OPTIONS, within(2, repeat(emptyField(5), 10)))],
    ['a number where bytes belong', Buffer.from([5 << 3, 0])],
    ['eight bytes where bytes belong', Buffer.from([(5 << 3) | 1, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['a length of six bytes', Buffer.from('2a808080808000', 'hex')],
    ['a tag of six bytes', Buffer.from('aa808080800000', 'hex')],
    ['a truth of six bytes', within(OPTIONS, Buffer.from('08808080808000', 'hex'))],
    ['a number without an end', Buffer.from([UNKNOWN << 3, 0x80])],
  ] as const)
    it(`A message with ${what} is refused`, () =>
      expect(() => hasTooManyFields(bytes, SHAPE)).toThrow(MalformedMessage))
})
