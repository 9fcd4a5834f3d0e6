-- This is find-due-bound.sql from the other end.
SELECT due_at
FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 1 AND due_at < ?
ORDER BY due_at DESC
LIMIT 1 OFFSET ?
