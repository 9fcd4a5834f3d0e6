SELECT id, gid, created_at, tags FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 0 AND due_at <= ?
ORDER BY due_at, id
LIMIT ?
FOR UPDATE SKIP LOCKED
