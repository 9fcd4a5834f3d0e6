-- How a database transaction begins whose statements are not known before it: the server's clock, and whether it would take
-- a write at all.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, @@global.read_only, @@global.innodb_read_only
