-- The parameters are now or, if it is earlier, the instant before PARKED_AT; the newest known format; and the limit.
-- A row with codes that this version does not know is left out, because the claim of all rows would fail with it.
SELECT gid FROM transactions
WHERE live = 1 AND due_at <= ? AND format <= ? AND kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
ORDER BY due_at, id
LIMIT ?
