-- As head.sql, where nobody looks at the answer before the COMMIT: where a former primary takes reads only it is error 1690,
-- which ends the packet. No sql_mode makes it a warning. As texts, since a server may have 'OFF' where others have 0, and
-- 'ON' = 0 is true.
SELECT LAST_INSERT_ID(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
  * EXP(IF(CONCAT(@@global.read_only) IN ('0', 'OFF') AND CONCAT(@@global.innodb_read_only) IN ('0', 'OFF'), 0, 1e4))
) AS now
