import { describe, expect, it } from 'vitest'
import { findDurabilityFaults } from '../../src/barrier/mysql/mysql-durability.ts'

describe('the check of the settings by which MySQL keeps a COMMIT', () => {
  for (const [flush, logBin, sync, faults] of [
    ['1', 'OFF', '0', []],
    ['3', 'OFF', '0', []],
    ['1', 'ON', '1', []],
    [undefined, undefined, undefined, []],
    ['0', 'OFF', '0', [/^innodb_flush_log_at_trx_commit is 0: .* a crash$/]],
    ['2', 'OFF', '0', [/^innodb_flush_log_at_trx_commit is 2: .* a power cut$/]],
    ['1', 'ON', '0', [/^sync_binlog is 0: .* a power cut$/]],
    ['1', 'ON', '100', [/^sync_binlog is 100: .* a power cut$/]],
    ['2', 'ON', '0', [/^innodb_flush_log_at_trx_commit is 2/, /^sync_binlog is 0/]],
  ] as const) {
    it(`Flush ${flush}, a binary log ${logBin} and its flush ${sync} have ${faults.length} faults`, () => {
      const settings = Object.entries({
        innodb_flush_log_at_trx_commit: flush,
        log_bin: logBin,
        sync_binlog: sync,
      }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
      expect(findDurabilityFaults(new Map(settings))).toEqual(
        faults.map((fault) => expect.stringMatching(fault)),
      )
    })
  }

  it('A method that flushes nothing is a fault', () => {
    for (const method of ['nosync', 'littlesync'])
      expect(findDurabilityFaults(new Map([['innodb_flush_method', method]]))).toEqual([
        `innodb_flush_method is ${method}: an effect that was answered as done may be gone after a power cut`,
      ])
    expect(findDurabilityFaults(new Map([['innodb_flush_method', 'O_DIRECT']]))).toEqual([])
  })
})
