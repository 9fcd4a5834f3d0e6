-- This is list-scan-end.sql for the order of list-due-last.sql.
SELECT due_at, gid
FROM transactions
WHERE live = 1 AND due_at <= $cursorAt AND (due_at < $cursorAt OR gid < $cursorGid)
ORDER BY due_at DESC, gid DESC
LIMIT 2 OFFSET $scanRowsMax - 1
