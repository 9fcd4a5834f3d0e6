-- If a row has a name or tags, both columns are added behind the others, and both values behind those of each row: see
-- write-statements.ts. This is a plain insert. A gid that exists is error 1062, which undoes this statement and not the database transaction.
INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at/*names*/
)
VALUES /*rows ,*/(
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  1, 1, 1, 0, 0, 0, LAST_INSERT_ID() + ?, LAST_INSERT_ID(), LAST_INSERT_ID()
)/*end*/
