-- This saves the rows that are as their writers knew them. It never inserts, so that a purged row does not come back. A NULL
-- in `due` means that a command is due now and a finish is never purged. The gids come once more, and `live` stands in a sum,
-- so that a plan which was made for an empty table, and is kept, still finds the rows by their gids and not by walking all that are live.
updated AS (
  UPDATE counterstep_transactions t
  SET
    status = new.status, format = new.format, retrying = new.retrying, attention = new.attention,
    sent_list = COALESCE(new.sent_list, t.sent_list), claims = 0,
    version = GREATEST(t.version + 1, clock.now), updated_at = clock.now,
    write_id = new.write_id, progress = new.progress, problem = new.problem, attempts = new.attempts, marks = new.marks,
    due_at = CASE new.hold
      WHEN 'keep' THEN t.due_at
      WHEN 'release' THEN new.due
      WHEN 'finish' THEN COALESCE(new.due + clock.now, 9000000000000000)
      ELSE CASE t.owned WHEN 1 THEN t.due_at ELSE COALESCE(new.due, clock.now) END
    END,
    owned = CASE WHEN new.hold IN ('release', 'finish') THEN 0 ELSE t.owned END,
    live = CASE new.hold WHEN 'finish' THEN 0 ELSE 1 END
  FROM clock, unnest(
    ?::text[], ?::text[], ?::bigint[], ?::text[], ?::smallint[], ?::integer[], ?::text[], ?::smallint[], ?::smallint[],
    ?::smallint[], ?::text[], ?::integer[], ?::smallint[], ?::text[], ?::bigint[]
  ) AS new (
    gid, token, version, write_id, status, format, progress, retrying, attention, sent_list, problem, attempts, marks, hold, due
  )
  WHERE t.gid = ANY (?::text[]) AND t.gid = new.gid AND t.token = new.token AND t.version = new.version AND t.live + 0 = 1
  RETURNING t.gid, new.hold
)
