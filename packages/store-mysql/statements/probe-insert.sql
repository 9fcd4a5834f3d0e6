-- Needs the right to INSERT, touches no row and takes no lock of one.
INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at
)
SELECT '', 0, 5, 1, '', '', '', '', '', 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0 FROM DUAL WHERE FALSE
