-- Stands before a COMMIT in the same packet, after the statement that must have changed so many rows: otherwise it is error
-- 1690, which ends the packet before the COMMIT. No sql_mode makes it a warning.
SET @counterstep_guard = EXP(IF(ROW_COUNT() = ?, 0, 1e4))
