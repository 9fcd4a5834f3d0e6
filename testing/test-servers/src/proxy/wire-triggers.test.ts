import { expect, it } from 'vitest'
import { isHttpPost, isMysqlCommit, isRedisScript } from './wire-triggers.ts'

function query(sql: string): Buffer {
  const text = Buffer.from(sql)
  return Buffer.concat([Buffer.from([text.length + 1, 0, 0, 0, 3]), text])
}

function command(...words: readonly string[]): Buffer {
  return Buffer.from(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
}

it('A COMMIT is known by its packet, not by a word in it', () => {
  expect(isMysqlCommit(query('COMMIT'))).toBe(true)
  expect(isMysqlCommit(query('commit'))).toBe(true)
  expect(isMysqlCommit(query('UPDATE notes SET text = 1;COMMIT'))).toBe(true)
  for (const other of [
    query("INSERT INTO notes VALUES ('COMMIT')"),
    query('RECOMMIT'),
    query('COMMIT;SELECT 1'),
    query('BEGIN'),
    Buffer.from('COMMIT'),
  ]) {
    expect(isMysqlCommit(other)).toBe(false)
  }
})

it('The call of a script is known by its command', () => {
  expect(isRedisScript(command('evalsha', 'a'.repeat(40), '0'))).toBe(true)
  expect(isRedisScript(command('EVAL', 'return 1', '0'))).toBe(true)
  for (const other of [command('GET', 'evalsha'), command('TIME'), Buffer.from('')]) {
    expect(isRedisScript(other)).toBe(false)
  }
})

it('A POST is known by its path', () => {
  const head = Buffer.from('POST /v1/transactions HTTP/1.1\r\nhost: a\r\n\r\n')
  expect(isHttpPost(head, '/v1/transactions')).toBe(true)
  expect(isHttpPost(head, '/move')).toBe(false)
  expect(isHttpPost(Buffer.from('GET /v1/transactions'), '/v1/transactions')).toBe(false)
})
