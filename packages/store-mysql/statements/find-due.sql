-- The parameters are now or, if it is earlier, the instant before PARKED_AT; the newest known format; and the limit.
-- A row with codes that this version does not know is left out, because the claim of all rows would fail with it.
-- A row that another node has locked is skipped, because that node may be frozen. The rows are read by read-due.sql, as many as may
-- be claimed at once.
SELECT id, LENGTH(definition) + LENGTH(progress) AS bytes
FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 1 AND due_at <= ? AND format <= ?
  AND kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
ORDER BY due_at, id
LIMIT ?
FOR UPDATE SKIP LOCKED
