/** The settings that decide whether a COMMIT is on the disk when it is answered. */
export const DURABILITY_SETTINGS = [
  'innodb_flush_log_at_trx_commit',
  'innodb_flush_method',
  'log_bin',
  'sync_binlog',
] as const

type Settings = ReadonlyMap<string, string>

/** A 3 is MariaDB's: a 1 with one more flush. */
const FLUSHING: ReadonlySet<string> = new Set(['1', '3'])
/** A flush of the data, or of the log as well, does nothing. */
const NOT_FLUSHING: ReadonlySet<string> = new Set(['nosync', 'littlesync'])
const LOSS = 'an effect that was answered as done may be gone after'

/**
 * Finds the settings by which a COMMIT is answered before it is on the disk. A server that hides a setting is taken at its
 * default. Where there is a binary log, InnoDB drops at a restart what that log has lost.
 */
export function findDurabilityFaults(settings: Settings): string[] {
  const faults: string[] = []
  const flush = settings.get('innodb_flush_log_at_trx_commit') ?? '1'
  if (!FLUSHING.has(flush))
    faults.push(
      `innodb_flush_log_at_trx_commit is ${flush}: ${LOSS} a ${flush === '0' ? 'crash' : 'power cut'}`,
    )
  const method = settings.get('innodb_flush_method') ?? ''
  if (NOT_FLUSHING.has(method)) faults.push(`innodb_flush_method is ${method}: ${LOSS} a power cut`)
  const sync = settings.get('sync_binlog') ?? '1'
  if (settings.get('log_bin') === 'ON' && sync !== '1')
    faults.push(`sync_binlog is ${sync}: ${LOSS} a power cut`)
  return faults
}
