-- The same database transaction deletes this row, so that no other one ever sees it. It has no real gid, is not live, and
-- is due for no purge.
INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at
)
VALUES (_binary ?, 0, 5, 1, '', '', '', '', '', 0, 0, 0, 1, 1, 0, 0, 0, ?, 0, 0)
