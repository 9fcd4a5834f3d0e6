-- This does the work of guard.sql without the count of rows. Statements that were sent one by one may have waited since
-- read_only was last read.
SET @counterstep_guard = EXP(IF(
  CONCAT(@@global.read_only) IN ('0', 'OFF') AND CONCAT(@@global.innodb_read_only) IN ('0', 'OFF'), 0, 1e4
))
