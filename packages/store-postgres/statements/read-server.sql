-- These are the facts about the server and the settings of the session. Every user may read them.
SELECT
  current_setting('server_version_num')::integer AS version,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS synchronous_standby_names,
  (SELECT setting::integer FROM pg_settings WHERE name = 'wal_writer_delay') AS wal_writer_delay_ms,
  current_setting('server_encoding') AS server_encoding,
  current_setting('client_encoding') AS client_encoding,
  current_setting('default_transaction_isolation') AS isolation,
  CASE WHEN pg_is_in_recovery() THEN 'on' ELSE current_setting('transaction_read_only') END AS read_only,
  concat_ws(' ', host(inet_server_addr()), inet_server_port(), (SELECT system_identifier FROM pg_control_system())) AS identity
