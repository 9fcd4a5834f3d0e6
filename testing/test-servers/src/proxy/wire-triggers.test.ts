import { describe, expect, it } from 'vitest'
import {
  isHttpPost,
  isMysqlCommit,
  isPostgresCommit,
  isPostgresWrite,
  isRedisScript,
  matchPostgres,
} from './wire-triggers.ts'

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

/** Writes a message of a PostgreSQL client: its type, its length, its body. */
function message(type: string, ...body: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

function parse(sql: string, statement = ''): Buffer {
  return message('P', `${statement}\0${sql}\0\0\0`)
}

function bind(statement = '', value: string | Buffer = ''): Buffer {
  return message('B', `\0${statement}\0`, value)
}

const EXECUTE = message('E', '\0\0\0\0\0')
const SYNC = message('S')
const CLIENT = {}

describe('requests of a PostgreSQL client', () => {
  const isUpdate = (sql: string) => sql.startsWith('UPDATE')

  it('A statement of a simple query is recognised', () => {
    const trigger = matchPostgres(isUpdate)
    expect(trigger(message('Q', 'SELECT 1\0'), CLIENT)).toBe(false)
    expect(trigger(message('Q', 'UPDATE notes SET text = 1\0'), CLIENT)).toBe(true)
  })

  it('A statement of the extended protocol is recognised when it is executed, not when it is parsed', () => {
    const trigger = matchPostgres(isUpdate)
    const sql = 'UPDATE notes SET text = $1'
    expect(trigger(Buffer.concat([parse(sql), message('D', 'S\0'), SYNC]), CLIENT)).toBe(false)
    expect(trigger(Buffer.concat([bind(), EXECUTE]), CLIENT)).toBe(false)
    expect(trigger(SYNC, CLIENT)).toBe(true)
    expect(trigger(Buffer.concat([parse(sql), bind(), EXECUTE, SYNC]), CLIENT)).toBe(true)
    expect(trigger(Buffer.concat([parse('SELECT $1'), bind('', sql), EXECUTE, SYNC]), CLIENT)).toBe(false)
  })

  it('A statement with a name is recognised each time that it is executed', () => {
    const trigger = matchPostgres(isUpdate)
    trigger(
      Buffer.concat([parse('UPDATE notes SET text = $1', 'one'), parse('SELECT 1', 'two'), SYNC]),
      CLIENT,
    )
    expect(trigger(Buffer.concat([bind('two'), EXECUTE, SYNC]), CLIENT)).toBe(false)
    expect(trigger(Buffer.concat([bind('one'), EXECUTE, SYNC]), CLIENT)).toBe(true)
    expect(trigger(Buffer.concat([bind('one'), EXECUTE, SYNC]), CLIENT)).toBe(true)
  })

  it('A request in pieces is recognised at its last byte, also beside that of another client', () => {
    const trigger = matchPostgres(isUpdate)
    const login = Buffer.concat([Buffer.of(0, 0, 0, 14, 0, 3, 0, 0), Buffer.from('user\0\0')])
    const request = [parse('UPDATE notes SET text = $1'), bind('', Buffer.alloc(300, 'S')), EXECUTE, SYNC]
    const bytes = Buffer.concat([login, ...request, message('Q', 'SELECT 1\0')])
    const last = login.length + Buffer.concat(request).length - 1
    const other = {}
    for (let at = 0; at < bytes.length; at++) {
      expect([at, trigger(bytes.subarray(at, at + 1), CLIENT)]).toEqual([at, at === last])
      expect(trigger(at % 2 === 0 ? message('Q', 'SELECT 1\0') : SYNC, other)).toBe(false)
    }
  })

  it('Two faults that share a trigger get the same answer for the same bytes', () => {
    const trigger = matchPostgres(isUpdate)
    for (const bytes of [parse('UPDATE notes SET text = $1', 'one'), bind('one'), EXECUTE])
      expect([trigger(bytes, CLIENT), trigger(bytes, CLIENT)]).toEqual([false, false])
    const end = Buffer.from(SYNC)
    expect([trigger(end, CLIENT), trigger(end, CLIENT)]).toEqual([true, true])
    expect(trigger(Buffer.from(SYNC), CLIENT)).toBe(false)
  })

  it('Bytes that are no requests of a PostgreSQL client are never recognised, and neither is what comes after them', () => {
    for (const bytes of [
      Buffer.of(0x16, 3, 1, 2, 0),
      Buffer.of(0, 0, 0, 0, 0),
      Buffer.of(0x51, 0, 0, 0, 0),
    ]) {
      const trigger = matchPostgres(() => true)
      expect([trigger(bytes, CLIENT), trigger(message('Q', 'SELECT 1\0'), CLIENT)]).toEqual([false, false])
    }
  })

  it('A COMMIT of a PostgreSQL client is a statement, not a word in one', () => {
    for (const sql of ['COMMIT', 'commit;', 'UPDATE notes SET text = 1; COMMIT'])
      expect(isPostgresCommit(sql)).toBe(true)
    for (const sql of ["SELECT 'COMMIT'", 'COMMIT; SELECT 1', 'RECOMMIT', 'BEGIN'])
      expect(isPostgresCommit(sql)).toBe(false)
  })

  it('A statement that changes rows is known wherever it begins', () => {
    for (const sql of [
      'INSERT INTO notes VALUES (1)',
      '/* claim */ UPDATE notes SET text = 1',
      'WITH gone AS (DELETE FROM notes RETURNING *) SELECT * FROM gone',
      'WITH one AS (SELECT 1) UPDATE notes SET text = 1',
      'BEGIN; MERGE INTO notes USING more ON true WHEN MATCHED THEN DELETE',
    ]) {
      expect([sql, isPostgresWrite(sql)]).toEqual([sql, true])
    }
    for (const sql of [
      'SELECT * FROM notes FOR UPDATE SKIP LOCKED',
      'SELECT updated FROM inserts',
      'BEGIN',
    ]) {
      expect([sql, isPostgresWrite(sql)]).toEqual([sql, false])
    }
  })
})
