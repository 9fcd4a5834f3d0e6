-- These are the facts about the server and the settings of the session. Every user may read them. The names are qualified, since
-- nothing is known yet of who may put functions where the server looks for them.
SELECT
  pg_catalog.current_setting('server_version_num')::integer AS version,
  pg_catalog.current_setting('fsync') AS fsync,
  pg_catalog.current_setting('full_page_writes') AS full_page_writes,
  pg_catalog.current_setting('data_sync_retry', true) AS data_sync_retry,
  pg_catalog.current_setting('synchronous_commit') AS synchronous_commit,
  pg_catalog.current_setting('synchronous_standby_names') AS synchronous_standby_names,
  pg_catalog.current_setting('server_encoding') AS server_encoding,
  pg_catalog.current_setting('client_encoding') AS client_encoding,
  pg_catalog.current_setting('default_transaction_isolation') AS isolation,
  pg_catalog.current_setting('client_min_messages') AS messages_min,
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'on' ELSE pg_catalog.current_setting('transaction_read_only') END AS read_only,
  pg_catalog.concat_ws(' ', pg_catalog.host(pg_catalog.inet_server_addr()), pg_catalog.inet_server_port(), (SELECT system_identifier FROM pg_catalog.pg_control_system())) AS identity
