-- This reads the last row that a full scan of the same range has seen, and the next one, if the range has so many rows.
SELECT created_at, gid
FROM counterstep_transactions FORCE INDEX (counterstep_created)
WHERE created_at >= ? AND created_at < ? AND created_at <= ? AND (created_at < ? OR gid < _binary ?)
ORDER BY created_at DESC, gid DESC
LIMIT 2 OFFSET ?
