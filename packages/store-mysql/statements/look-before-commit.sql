-- As guard.sql, without the count of rows: what was written step by step may have waited since read_only was looked at.
SET @counterstep_guard = EXP(IF(
  CONCAT(@@global.read_only) IN ('0', 'OFF') AND CONCAT(@@global.innodb_read_only) IN ('0', 'OFF'), 0, 1e4
))
