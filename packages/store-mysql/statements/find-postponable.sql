-- This finds the same rows as find-due.sql, so that every row that is postponed can be claimed later. It reads only the
-- columns that name a row.
SELECT id, gid FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 1 AND due_at <= ? AND format <= ?
  AND kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
ORDER BY due_at, id
LIMIT ?
FOR UPDATE SKIP LOCKED
