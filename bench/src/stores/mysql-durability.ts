/**
 * Tells how much of an acknowledged commit survives, in the classes of ARCHITECTURE.md, where no Counterstep server
 * says it.
 */
export function mysqlDurabilityClass(settings: Readonly<Record<string, string>>): 'A' | 'B' | 'C' {
  const { innodb_flush_log_at_trx_commit: flush, log_bin: log, sync_binlog: sync } = settings
  if (flush === '1') return log !== 'ON' || sync === '1' ? 'A' : 'B'
  return flush === '2' ? 'B' : 'C'
}
