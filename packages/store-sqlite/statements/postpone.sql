-- Neither token nor version: what a former owner saves still applies.
UPDATE transactions SET due_at = ?, owned = 0 WHERE gid = ?
