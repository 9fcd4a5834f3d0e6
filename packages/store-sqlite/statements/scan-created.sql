SELECT id AS scanned_id, created_at AS scanned_at, gid AS scanned_gid
FROM transactions
WHERE created_at >= $createdFrom AND created_at < $createdTo AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)
ORDER BY created_at DESC, gid DESC
LIMIT $rowsMax
