-- This creates the rows whose gids do not exist. It waits for another session that has just inserted one of them.
created AS (
  INSERT INTO counterstep_transactions (
    gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list, name, tags,
    live, version, epoch, claims, retrying, attention, attempts, marks, due_at, created_at, updated_at
  )
  SELECT
    new.gid, new.kind, new.status, new.format, new.digest, new.definition, new.progress, new.token, new.write_id, new.owned,
    new.sent_list, new.name, new.tags,
    1, 1, 1, 0, 0, 0, 0, 0, clock.now + new.due_in_ms, clock.now, clock.now
  FROM clock, unnest(
    ?::text[], ?::smallint[], ?::smallint[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::smallint[],
    ?::smallint[], ?::text[], ?::text[], ?::bigint[]
  ) AS new (
    gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list, name, tags, due_in_ms
  )
  ON CONFLICT (gid) DO NOTHING
  RETURNING gid, created_at, tags
)
