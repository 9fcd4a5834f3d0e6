-- This removes finished rows with the entries of their tags, and skips those that another session has locked.
WITH /*clock*/,
over AS MATERIALIZED (
  SELECT gid, created_at, tags
  FROM counterstep_transactions
  WHERE live = 0 AND due_at <= (SELECT now FROM clock)
  ORDER BY due_at
  LIMIT ?
  FOR UPDATE SKIP LOCKED
),
purged AS (
  DELETE FROM counterstep_transactions t USING over WHERE t.gid = over.gid RETURNING t.gid
),
entries AS (
  DELETE FROM counterstep_tags e
  USING (
    SELECT unnest(string_to_array(btrim(tags, E'\n'), E'\n')) AS tag, created_at, gid FROM over WHERE tags IS NOT NULL
  ) tagged
  WHERE e.tag = tagged.tag AND e.created_at = tagged.created_at AND e.gid = tagged.gid
)
SELECT count(*) FROM purged
