-- The statement that found the rows has locked them.
SELECT
  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,
  claims, retrying, attention, created_at, updated_at, due_at,
  name, tags, problem, attempts, marks, id
FROM counterstep_transactions FORCE INDEX (PRIMARY)
WHERE id IN (/*rows ,*/?/*end*/)
FOR UPDATE
