-- Now or, if that is lower, the instant before PARKED_AT; the newest known format; the limit.
-- A row whose codes nobody knows is left alone: it would spoil the claim of its neighbours.
SELECT gid FROM transactions
WHERE live = 1 AND due_at <= ? AND format <= ? AND kind BETWEEN 0 AND 2 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
ORDER BY due_at, id
LIMIT ?
