-- As head.sql, in one statement without a variable. A proxy may have given the session another connection since it was set
-- up, so what the statements rest on is asked again in the same round trip. MariaDB before 11.1: tx_isolation, and of
-- autocommit a word where MySQL has a number.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, @@global.read_only, @@global.innodb_read_only,
  CONCAT_WS(' ', @@autocommit + 0, @@sql_mode, @@character_set_client, @@transaction_isolation)
