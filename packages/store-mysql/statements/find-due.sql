-- Until now or, if that is lower, the instant before PARKED_AT; the newest known format; the limit.
-- A row whose codes nobody knows is left alone: it would spoil the claim of its neighbours.
-- A row that another node holds locked is skipped: nobody waits for a frozen neighbour.
SELECT
  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,
  claims, retrying, attention, created_at, updated_at, due_at, id
FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 1 AND due_at <= ? AND format <= ?
  AND kind BETWEEN 0 AND 2 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
ORDER BY due_at, id
LIMIT ?
FOR UPDATE SKIP LOCKED
