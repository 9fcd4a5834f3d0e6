-- How every database transaction begins, after set-now.sql: the server's clock, and whether it would take a write at all.
SELECT @counterstep_now, @@global.read_only, @@global.innodb_read_only
