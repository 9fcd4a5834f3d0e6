-- A database transaction begins with this if its statements are not yet known. It reads the server's clock and whether the
-- server would take a write at all.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, @@global.read_only, @@global.innodb_read_only
