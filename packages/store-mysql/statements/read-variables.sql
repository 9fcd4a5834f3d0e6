-- This reads the settings of the session and the facts about the server. It needs no privilege. It returns no row if the
-- driver does not write UTF-8.
SHOW VARIABLES WHERE HEX('é縗') = 'C3A9E7B897' AND Variable_name IN (
  'sql_mode', 'time_zone', 'tx_isolation', 'transaction_isolation', 'innodb_lock_wait_timeout', 'wait_timeout',
  'autocommit', 'character_set_client', 'character_set_connection', 'character_set_results', 'session_track_system_variables', 'max_allowed_packet',
  'version', 'version_comment', 'server_uuid', 'server_uid', 'server_id', 'hostname', 'binlog_format',
  'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog',
  'innodb_flush_log_at_timeout', 'innodb_flush_method'
)
