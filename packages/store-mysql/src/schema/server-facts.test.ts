import { describe, expect, it } from 'vitest'
import { readDurability, refuseUnsupported, toServerIdentity } from './server-facts.ts'

function variables(values: Readonly<Record<string, string>>) {
  return new Map(Object.entries(values))
}

describe('the durability class', () => {
  const table = [
    // Each row has: flush, binary log, sync_binlog, class.
    ['1', 'ON', '1', 'A'],
    ['1', 'OFF', '0', 'A'],
    ['3', 'OFF', '0', 'A'],
    ['1', 'ON', '0', 'B'],
    ['1', 'ON', '1000', 'B'],
    ['2', 'ON', '1', 'B'],
    ['2', 'OFF', '1', 'B'],
    ['0', 'ON', '1', 'C'],
    ['', 'ON', '1', 'C'],
  ] as const
  for (const [flush, log, sync, expected] of table) {
    it(`The durability class is ${expected} with flush ${flush}, binary log ${log}, sync_binlog ${sync}`, () => {
      const settings = { innodb_flush_log_at_trx_commit: flush, log_bin: log, sync_binlog: sync }
      expect(readDurability(variables({ ...settings, innodb_flush_log_at_timeout: '1' })).class).toBe(
        expected,
      )
    })
  }

  const durable = {
    innodb_flush_log_at_trx_commit: '1',
    innodb_flush_log_at_timeout: '1',
    Innodb_redo_log_enabled: 'ON',
    log_bin: 'ON',
    sync_binlog: '1',
  }
  const others = [
    [{}, 'A'],
    [{ innodb_flush_log_at_timeout: '2700' }, 'A'],
    [{ innodb_flush_log_at_trx_commit: '2', innodb_flush_log_at_timeout: '2' }, 'B'],
    [{ innodb_flush_log_at_trx_commit: '2', innodb_flush_log_at_timeout: '3' }, 'C'],
    [{ sync_binlog: '0', innodb_flush_log_at_timeout: '3' }, 'C'],
    [{ Innodb_redo_log_enabled: 'OFF' }, 'C'],
    [{ innodb_flush_method: 'O_DIRECT' }, 'A'],
    [{ innodb_flush_method: 'nosync' }, 'C'],
    [{ innodb_flush_method: 'littlesync' }, 'C'],
  ] as const
  for (const [change, expected] of others) {
    it(`The durability class is ${expected} on a durable server with ${JSON.stringify(change)}`, () => {
      const durability = readDurability(variables({ ...durable, ...change }))
      expect(durability.class).toBe(expected)
      // The setting that was changed last is named.
      const [name, value] = Object.entries(change).at(-1) ?? ['innodb_flush_log_at_trx_commit', '1']
      if (expected === 'C') expect(durability.because).toContain(`${name}=${value}`)
    })
  }
})

describe('a server', () => {
  const versions = [
    ['8.0.11', true],
    ['9.7.4-2', true],
    ['5.7.44-log', false],
    ['8.0.11-TiDB-v8.5.6', false],
    ['10.6.0-MariaDB', true],
    ['10.11.19-MariaDB-0+deb12u1-log', true],
    ['11.4.2-MariaDB', true],
    ['10.5.29-MariaDB', false],
    ['5.5.5-10.3.39-MariaDB', false],
    ['', false],
  ] as const
  for (const [version, will] of versions) {
    it(`A server of version "${version}" ${will ? 'is accepted' : 'is refused by its version'}`, () => {
      const check = () => refuseUnsupported(variables({ version }))
      if (will) expect(check).not.toThrow()
      else expect(check).toThrow(expect.objectContaining({ code: 'SAGA_STORE_UNSUPPORTED' }))
    })
  }

  it('A server that logs statements is refused by that setting, unless it logs none', () => {
    const settings = { version: '10.11.0-MariaDB', binlog_format: 'STATEMENT' }
    expect(() => refuseUnsupported(variables({ ...settings, log_bin: 'ON' }))).toThrow('binlog_format')
    expect(() => refuseUnsupported(variables({ ...settings, log_bin: 'OFF' }))).not.toThrow()
  })

  it('A server is told from another by its identity', () => {
    const [a, b, c] = [
      { hostname: 'h', server_id: '1', server_uuid: 'a' },
      { hostname: 'h', server_id: '1', server_uuid: 'b' },
      { hostname: 'h', server_id: '2' },
    ].map((values) => toServerIdentity(variables(values as Record<string, string>)))
    expect(new Set([a, b, c]).size).toBe(3)
  })
})
