-- How every database transaction begins: the server's clock, and whether it would take a write at all. LAST_INSERT_ID() then
-- is that instant, until a row is inserted.
SELECT
  LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) AS now, @@global.read_only,
  @@global.innodb_read_only
