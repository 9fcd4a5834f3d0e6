-- The token and the version stay, so that a save of the former owner still applies.
UPDATE transactions SET due_at = ?, owned = 0 WHERE gid = ?
