-- This does the work of head.sql in one statement without a variable. A proxy may have given the session another connection
-- since it was set up, so the settings that the statements rely on are read again in the same round trip. MariaDB before
-- 11.1 calls the last one tx_isolation, and shows autocommit as a word where MySQL shows a number.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, @@global.read_only, @@global.innodb_read_only,
  CONCAT_WS(' ', @@autocommit + 0, @@sql_mode, @@character_set_client, @@transaction_isolation)
