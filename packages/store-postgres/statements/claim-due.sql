-- The parameters are the newest known format, the limit, the bytes that end a claim, the tokens, and the length of the lease. A row with codes that this
-- version does not know is left out, because the claim of all rows would fail with it. A row that another session has locked is
-- skipped; one behind those bytes is left as it is (the length of a text is known without its content). The index has no gid, and all rows of one instant would be sorted by it before the first of them is locked. The
-- sent_list 'released' (2) becomes 'held' (1), and every other one becomes 'unknown' (0).
WITH /*clock*/,
due AS MATERIALIZED (
  SELECT gid, due_at, octet_length(definition) + octet_length(progress) AS bytes
  FROM counterstep_transactions
  WHERE live = 1 AND due_at <= (SELECT LEAST(now, 8999999999999999) FROM clock) AND format <= ?
    AND kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
  ORDER BY due_at
  LIMIT ?
  FOR UPDATE SKIP LOCKED
),
counted AS (
  SELECT gid, row_number() OVER turns AS place, sum(bytes) OVER turns - bytes AS bytes_before
  FROM due
  WINDOW turns AS (ORDER BY due_at, gid)
),
numbered AS (SELECT gid, place FROM counted WHERE bytes_before < ?::bigint),
claimed AS (
  UPDATE counterstep_transactions t
  SET
    token = (?::text[])[numbered.place], due_at = clock.now + ?::bigint, owned = 1, version = GREATEST(t.version + 1, clock.now),
    epoch = t.epoch + 1, claims = t.claims + 1, sent_list = CASE t.sent_list WHEN 2 THEN 1 ELSE 0 END
  FROM numbered, clock
  WHERE t.gid = numbered.gid
  RETURNING
    t.gid, t.kind, t.status, t.format, t.digest, t.definition, t.progress, t.version, t.token, t.epoch, t.write_id, t.owned, t.sent_list,
    t.claims, t.retrying, t.attention, t.created_at, t.updated_at, t.due_at,
    t.name, t.tags, t.problem, t.attempts, t.marks, numbered.place
)
SELECT
  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,
  claims, retrying, attention, created_at, updated_at, due_at,
  name, tags, problem, attempts, marks,
  now
FROM clock LEFT JOIN claimed ON TRUE
ORDER BY place
