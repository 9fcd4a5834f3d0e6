-- This finds the same rows as claim-due.sql, so that every row that is postponed can be claimed later. The token and the version
-- stay, so that a save of the former owner still applies.
WITH /*clock*/,
due AS MATERIALIZED (
  SELECT gid, due_at
  FROM counterstep_transactions
  WHERE live = 1 AND due_at <= (SELECT LEAST(now, 8999999999999999) FROM clock) AND format <= ?
    AND kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
  ORDER BY due_at
  LIMIT ?
  FOR UPDATE SKIP LOCKED
),
postponed AS (
  UPDATE counterstep_transactions t
  SET due_at = clock.now + ?::bigint, owned = 0
  FROM due, clock
  WHERE t.gid = due.gid
  RETURNING t.gid, due.due_at AS was_due_at
)
SELECT now, gid
FROM clock LEFT JOIN postponed ON TRUE
ORDER BY was_due_at, gid
