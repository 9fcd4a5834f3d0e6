UPDATE transactions
SET due_at = ?
WHERE gid = ? AND token = ? AND live = 1 AND owned = 1
RETURNING version
