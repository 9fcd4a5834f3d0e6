-- Now or, if that is lower, the instant before PARKED_AT; the newest known format; the limit.
SELECT gid FROM transactions
WHERE live = 1 AND due_at <= ? AND format <= ?
ORDER BY due_at, id
LIMIT ?
