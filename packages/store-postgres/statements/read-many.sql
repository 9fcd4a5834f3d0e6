SELECT
  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,
  claims, retrying, attention, created_at, updated_at, due_at,
  name, tags, problem, attempts, marks
FROM counterstep_transactions
WHERE gid = ANY(?::text[])
