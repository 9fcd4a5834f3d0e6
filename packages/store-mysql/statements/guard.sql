-- Stands before a COMMIT in the same packet, after the statement that must have changed so many rows: otherwise, or where a
-- former primary takes reads only, it is error 1690, which ends the packet before the COMMIT. No sql_mode makes it a warning.
-- As texts, since a server may have 'OFF' where others have 0, and 'ON' = 0 is true.
SET @counterstep_guard = EXP(IF(
  ROW_COUNT() = ? AND CONCAT(@@global.read_only) IN ('0', 'OFF') AND CONCAT(@@global.innodb_read_only) IN ('0', 'OFF'),
  0, 1e4
))
