-- This stands before a COMMIT in the same packet, after a statement that must have changed that many rows. If it changed
-- another number of rows, or if the server is a former primary and takes only reads, this raises error 1690, which ends the
-- packet before the COMMIT. No sql_mode turns that error into a warning. The variables are compared as texts, because some
-- servers have 'OFF' where others have 0, and 'ON' = 0 is true.
SET @counterstep_guard = EXP(IF(
  ROW_COUNT() = ? AND CONCAT(@@global.read_only) IN ('0', 'OFF') AND CONCAT(@@global.innodb_read_only) IN ('0', 'OFF'),
  0, 1e4
))
