-- The parameters are the token, the length of the lease, the gid, and the newest known format.
WITH /*clock*/
UPDATE counterstep_transactions t
SET
  token = ?, due_at = clock.now + ?::bigint, owned = 1, version = GREATEST(t.version + 1, clock.now),
  epoch = t.epoch + 1, claims = t.claims + 1, sent_list = CASE t.sent_list WHEN 2 THEN 1 ELSE 0 END
FROM clock
WHERE t.gid = ? AND t.live = 1 AND t.due_at < 9000000000000000 AND (t.owned = 0 OR t.due_at <= clock.now) AND t.format <= ?
  AND t.kind BETWEEN 0 AND 5 AND t.status BETWEEN 0 AND 5 AND t.sent_list BETWEEN 0 AND 2
RETURNING
  t.gid, t.kind, t.status, t.format, t.digest, t.definition, t.progress, t.version, t.token, t.epoch, t.write_id, t.owned, t.sent_list,
    t.claims, t.retrying, t.attention, t.created_at, t.updated_at, t.due_at,
    t.name, t.tags, t.problem, t.attempts, t.marks,
  clock.now
