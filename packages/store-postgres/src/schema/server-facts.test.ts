import { describe, expect, it } from 'vitest'
import {
  readDurability,
  readFailover,
  readServerFacts,
  refuseUnsupported,
  type ServerFacts,
} from './server-facts.ts'

const DURABLE: ServerFacts = {
  version: 150_019,
  fsync: 'on',
  fullPageWrites: 'on',
  dataSyncRetry: 'off',
  synchronousCommit: 'on',
  synchronousStandbyNames: '',
  serverEncoding: 'UTF8',
  clientEncoding: 'UTF8',
  isolation: 'read committed',
  messagesMin: 'notice',
  readOnly: 'off',
  identity: '127.0.0.1 5432 1',
}

describe('the durability class', () => {
  const table: readonly (readonly [Partial<ServerFacts>, 'A' | 'C', string])[] = [
    [{}, 'A', 'synchronous_commit=on'],
    [{ synchronousCommit: 'remote_apply' }, 'A', 'synchronous_commit=remote_apply'],
    [{ synchronousCommit: 'remote_write' }, 'A', 'synchronous_commit=remote_write'],
    [{ synchronousCommit: 'local' }, 'A', 'synchronous_commit=local'],
    [{ synchronousCommit: 'off' }, 'C', 'synchronous_commit=off'],
    [{ fsync: 'off' }, 'C', 'fsync=off'],
    [{ fullPageWrites: 'off' }, 'C', 'full_page_writes=off'],
    [{ dataSyncRetry: 'on' }, 'C', 'data_sync_retry=on'],
    [{ fsync: 'off', synchronousCommit: 'off' }, 'C', 'fsync=off'],
  ]
  for (const [change, expected, because] of table) {
    it(`The durability class is ${expected} on a durable server with ${JSON.stringify(change)}`, () => {
      const durability = readDurability({ ...DURABLE, ...change })
      expect(durability.class).toBe(expected)
      expect(durability.because).toContain(because)
    })
  }
})

describe('a failover', () => {
  const table = [
    ['on', '', 'lossy'],
    ['on', 'one', 'lossless'],
    ['remote_apply', 'FIRST 1 (one, two)', 'lossless'],
    // The standby has the COMMIT in its memory alone.
    ['remote_write', 'one', 'lossy'],
    ['local', 'one', 'lossy'],
    ['off', 'one', 'lossy'],
  ] as const
  for (const [synchronousCommit, synchronousStandbyNames, expected] of table) {
    it(`A failover is ${expected} with synchronous_commit=${synchronousCommit} and the standbys "${synchronousStandbyNames}"`, () => {
      expect(readFailover({ ...DURABLE, synchronousCommit, synchronousStandbyNames })).toBe(expected)
    })
  }
})

describe('a server', () => {
  const versions = [
    [120_022, false],
    [96_024, false],
    [0, false],
    [130_000, true],
    [150_019, true],
    [180_001, true],
  ] as const
  for (const [version, will] of versions) {
    it(`A server of version ${version} ${will ? 'is accepted' : 'is refused by its version'}`, () => {
      const check = () => refuseUnsupported({ ...DURABLE, version })
      if (will) expect(check).not.toThrow()
      else expect(check).toThrow(expect.objectContaining({ code: 'SAGA_STORE_UNSUPPORTED' }))
    })
  }

  it('A server is refused by its version with the version that it has', () => {
    expect(() => refuseUnsupported({ ...DURABLE, version: 120_022 })).toThrow('PostgreSQL 12;')
  })

  it('A database is refused by its encoding', () => {
    const check = () => refuseUnsupported({ ...DURABLE, serverEncoding: 'SQL_ASCII' })
    expect(check).toThrow(expect.objectContaining({ code: 'SAGA_STORE_UNSUPPORTED' }))
    expect(check).toThrow('SQL_ASCII')
  })

  it('The facts are read from the columns in their order', () => {
    const row = [
      150_019,
      'on',
      'on',
      'off',
      'on',
      '',
      'UTF8',
      'UTF8',
      'read committed',
      'notice',
      'off',
      '127.0.0.1 5432 1',
    ]
    expect(readServerFacts(row)).toEqual(DURABLE)
    expect(() => readServerFacts(undefined)).toThrow('told nothing')
  })
})
