-- The sent_list 'released' (2) becomes 'held' (1), and every other one becomes 'unknown' (0).
UPDATE transactions
SET token = ?, due_at = ?, owned = 1, version = version + 1, epoch = epoch + 1, claims = claims + 1,
  sent_list = CASE sent_list WHEN 2 THEN 1 ELSE 0 END
WHERE gid = ?
RETURNING
  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,
  claims, retrying, attention, created_at, updated_at, due_at, name, tags, problem, attempts, marks
