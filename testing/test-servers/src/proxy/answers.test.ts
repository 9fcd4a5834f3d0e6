import { describe, expect, it } from 'vitest'
import { parseGreeting, readFlavor } from './mysql-greeting.ts'
import { parseStartup } from './postgres-answer.ts'
import { parseAnswer } from './redis-answer.ts'

function packet(...payload: readonly (number | string)[]): Buffer {
  const body = Buffer.concat(
    payload.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))),
  )
  return Buffer.concat([Buffer.of(body.length, 0, 0, 0), body])
}

describe('the greeting of a MySQL', () => {
  for (const [sent, version, flavor] of [
    ['9.7.4-2', '9.7.4-2', 'mysql'],
    ['5.5.5-10.11.19-MariaDB-log', '10.11.19-MariaDB-log', 'mariadb'],
    ['11.8.1-MariaDB', '11.8.1-MariaDB', 'mariadb'],
  ] as const) {
    it(`The greeting of a MySQL names the version ${version}`, () => {
      const greeting = packet(10, sent, 0, 'the rest')
      expect(parseGreeting(greeting)).toBe(version)
      expect(readFlavor(version)).toBe(flavor)
      for (const bytes of [0, 3, 4, greeting.length - 1]) {
        expect(parseGreeting(greeting.subarray(0, bytes))).toBe(undefined)
      }
    })
  }

  it('The greeting of a MySQL that is a refusal is thrown with its text', () => {
    expect(() => parseGreeting(packet(0xff, 0x10, 0x04, 'Too many connections'))).toThrow(
      /^Too many connections$/,
    )
  })
  it('The greeting of something else than a MySQL is an error', () => {
    expect(() => parseGreeting(packet('SSH-2.0', 0))).toThrow('no MySQL')
    expect(() => parseGreeting(packet(10, 'no end'))).toThrow('no MySQL')
  })
})

describe('the answer of a Redis', () => {
  for (const [sent, answer] of [
    ['+PONG\r\n', 'PONG'],
    [':42\r\n', '42'],
    ['$5\r\nä\r\nb\r\n', 'ä\r\nb'],
    ['$0\r\n\r\n', ''],
    ['$-1\r\n', ''],
  ] as const) {
    it(`The answer ${JSON.stringify(sent)} of a Redis is read when it is whole`, () => {
      expect(parseAnswer(Buffer.from(sent))).toBe(answer)
      expect(parseAnswer(Buffer.from(sent).subarray(0, -1))).toBe(undefined)
    })
  }

  it('An answer that is an error, or comes from something else than Redis, is thrown', () => {
    expect(() => parseAnswer(Buffer.from('-LOADING it\r\n'))).toThrow(/^LOADING it$/)
    expect(() => parseAnswer(Buffer.from('HTTP/1.1 400\r\n'))).toThrow('no answer of a Redis')
  })
})

/** Writes a message of PostgreSQL: its type, its length, its fields. */
function message(type: string, ...fields: readonly string[]): Buffer {
  const body = Buffer.from(fields.join('\0'))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

describe('the answer of a PostgreSQL to a login', () => {
  const WELCOME = [
    message('R', '\0\0\0\0'),
    message('S', 'application_name', '', ''),
    message('S', 'server_version', '15.18 (Debian 15.18-0+deb12u1)', ''),
    message('K', '12345678'),
  ]

  it('The answer of a PostgreSQL to a login names the version when the server is ready', () => {
    const whole = Buffer.concat([...WELCOME, message('Z', 'I')])
    expect(parseStartup(whole)).toBe('15.18 (Debian 15.18-0+deb12u1)')
    for (let bytes = 0; bytes < whole.length; bytes++) {
      expect(parseStartup(whole.subarray(0, bytes))).toBe(undefined)
    }
  })

  it('An answer to a login that is an error, or comes from something else than a PostgreSQL, is thrown', () => {
    const starting = message('E', 'SFATAL', 'C57P03', 'Mthe database system is starting up', '')
    expect(() => parseStartup(starting)).toThrow(/^the database system is starting up$/)
    expect(() => parseStartup(message('E', 'SFATAL', ''))).toThrow('without a text')
    expect(() => parseStartup(Buffer.from('HTTP/1.1 400\r\n'))).toThrow('no PostgreSQL')
  })
})
