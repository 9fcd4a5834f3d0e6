-- This reads the last row that a full scan of the same range has seen, and the next one, if the range has so many rows.
SELECT created_at, gid
FROM transactions
WHERE created_at >= $createdFrom AND created_at < $createdTo AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)
ORDER BY created_at DESC, gid DESC
LIMIT 2 OFFSET $scanRowsMax - 1
