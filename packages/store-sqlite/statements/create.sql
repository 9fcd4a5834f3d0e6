INSERT INTO transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list, name, tags, due_at,
  created_at, updated_at, room, live, version, epoch, claims, retrying, attention
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, zeroblob(?), 1, 1, 1, 0, 0, 0)
ON CONFLICT (gid) DO NOTHING
