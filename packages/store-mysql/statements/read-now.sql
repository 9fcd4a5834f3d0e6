-- After set-now.sql, where guard.sql asks the rest of head.sql.
SELECT @counterstep_now
