-- These are the tags of the rows that purge.sql deletes.
SELECT tags, created_at, gid
FROM transactions
WHERE tags IS NOT NULL AND id IN (SELECT id FROM transactions WHERE live = 0 AND due_at <= ? ORDER BY due_at, id LIMIT ?)
