-- This needs the right to INSERT. It touches no row and locks none.
INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  name, tags, live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at
)
SELECT '', 0, 5, 1, '', '', '', '', '', 0, 0, NULL, NULL, 0, 1, 1, 0, 0, 0, 0, 0, 0 FROM DUAL WHERE FALSE
