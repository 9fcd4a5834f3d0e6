SELECT id AS scanned_id, due_at AS scanned_at, gid AS scanned_gid
FROM transactions
WHERE live = 1 AND due_at <= $cursorAt AND (due_at < $cursorAt OR gid < $cursorGid)
ORDER BY due_at DESC, gid DESC
LIMIT $rowsMax
