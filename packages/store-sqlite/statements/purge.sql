DELETE FROM transactions
WHERE id IN (SELECT id FROM transactions WHERE live = 0 AND due_at <= ? ORDER BY due_at, id LIMIT ?)
