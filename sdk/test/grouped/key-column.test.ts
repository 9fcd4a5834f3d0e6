import { describe, expect, it } from 'vitest'
import { KEY_BYTES_MAX, mayBeKey } from '../../src/grouped/addition/column-type.ts'
import { readColumnTypes } from '../../src/grouped/mysql/mysql-column-types.ts'
import { readKeyColumn, readValueColumn } from '../../src/grouped/postgres/postgres-column-types.ts'

const mysql = (type: number, columnLength: number, flags = 0, decimals = 0) =>
  readColumnTypes([{ type, columnLength, flags, decimals, characterSet: 63 }]).column
const postgres = (dataTypeID: number) => readKeyColumn([{ dataTypeID }])
const UNSIGNED = 32
const UUID = '0b0e7c1e-4a52-4a8c-9b58-0123456789ab'

describe('the ids that a key column can hold', () => {
  it.each([
    [
      'TINYINT',
      mysql(1, 4),
      ['-128', '127', '007', '+7', ' 7 '],
      ['-129', '128', '7.0', '7e0', '0x7', '', '+-7', '--7', '\u00a07', '\ufeff7', '7\u2028'],
    ],
    ['SMALLINT', mysql(2, 6), ['-32768', '32767'], ['32768']],
    ['MEDIUMINT', mysql(9, 9), ['-8388608', '8388607'], ['8388608']],
    ['INT', mysql(3, 11), ['-2147483648', '2147483647'], ['2147483648', '99999999999']],
    ['INT UNSIGNED', mysql(3, 10, UNSIGNED), ['0', '4294967295'], ['-1', '4294967296']],
    ['BIGINT', mysql(8, 20), ['-9223372036854775808', '9223372036854775807'], ['9223372036854775808', 'x']],
    ['BIGINT UNSIGNED', mysql(8, 20, UNSIGNED), ['18446744073709551615'], ['18446744073709551616', '-1']],
    [
      'DECIMAL(10)',
      mysql(246, 11),
      ['9999999999', '-9999999999', '00000000000001'],
      ['10000000000', '1e9', '5.5'],
    ],
    ['DECIMAL(10) UNSIGNED', mysql(246, 10, UNSIGNED), ['9999999999'], ['10000000000']],
    ['DECIMAL(10, 2)', mysql(246, 12, 0, 2), ['5.50', '99999999999'], []],
    [
      'VARCHAR',
      mysql(253, 256),
      ['x', '', 'a\0b'],
      ['x'.repeat(KEY_BYTES_MAX + 1), 'é'.repeat(KEY_BYTES_MAX)],
    ],
    ['int2', postgres(21), ['32767'], ['32768', 'x']],
    ['int4', postgres(23), ['2147483647', '007'], ['2147483648']],
    [
      'int8',
      postgres(20),
      ['9223372036854775807'],
      ['9223372036854775808', '1'.repeat(400), '+-7', '\u00a07'],
    ],
    [
      'numeric',
      postgres(1700),
      ['5.50', '-.5', '1e400', '1'.repeat(400)],
      ['1e99999', 'x', '', '1_000', '+-7', '\u00a07'],
    ],
    [
      'uuid',
      postgres(2950),
      [UUID, UUID.toUpperCase(), `{${UUID}}`, UUID.replaceAll('-', '')],
      [`{${UUID}`, 'x'],
    ],
    ['text', postgres(25), ['x', '', 'a\nb'], ['a\0b', 'x'.repeat(KEY_BYTES_MAX + 1)]],
    [
      'a column of an unknown driver',
      readKeyColumn(undefined),
      ['x', '1e400'],
      ['x'.repeat(KEY_BYTES_MAX + 1)],
    ],
  ] as const)('A column of %s', (_type, column, held, others) => {
    expect(held.filter((id) => !mayBeKey(column, id))).toEqual([])
    expect(others.filter((id) => mayBeKey(column, id))).toEqual([])
  })

  it('A text of a megabyte is told without a number being made of it', () => {
    expect(mayBeKey(postgres(20), '9'.repeat(2 ** 20))).toBe(false)
    expect(mayBeKey(postgres(20), ' '.repeat(KEY_BYTES_MAX - 1))).toBe(false)
  })

  it('Columns of different types are told apart', () => {
    const columns = [
      mysql(3, 11),
      mysql(3, 10, UNSIGNED),
      mysql(8, 20),
      mysql(246, 11),
      postgres(20),
      postgres(25),
    ]
    expect(new Set(columns.map((column) => column?.type)).size).toBe(columns.length)
  })
})

describe('the sums that a value column can hold', () => {
  const key = { type: 253, columnLength: 256, flags: 0, decimals: 0, characterSet: 45 }
  const onMysql = (type: number, columnLength: number, flags = 0) =>
    readColumnTypes([{ type, columnLength, flags, decimals: 0, characterSet: 63 }, key]).valueColumn
  const onPostgres = (dataTypeID: number, dataTypeModifier = -1) =>
    readValueColumn([{ dataTypeID, dataTypeModifier }, { dataTypeID: 25 }])

  it.each([
    ['INT', onMysql(3, 11), ['2147483647', '-2147483648'], ['2147483648']],
    ['INT UNSIGNED', onMysql(3, 10, UNSIGNED), ['0', '4294967295'], ['-1', '4294967296']],
    ['DECIMAL(10)', onMysql(246, 11), ['-9999999999'], ['10000000000']],
    ['int2', onPostgres(21), ['32767'], ['32768', '-32769']],
    ['int4', onPostgres(23), ['-2147483648'], ['-2147483649']],
    ['numeric(5)', onPostgres(1700, (5 << 16) + 4), ['99999', '-99999'], ['100000']],
    ['numeric', onPostgres(1700), ['9223372036854775807'], []],
  ] as const)('A column of %s', (_type, column, held, others) => {
    expect(held.filter((value) => column?.holds(value) !== true)).toEqual([])
    expect(others.filter((value) => column?.holds(value) !== false)).toEqual([])
  })

  it('A column of another type, or of an unknown driver, tells nothing', () => {
    expect([onPostgres(25), onMysql(253, 256), readValueColumn(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
