-- A row that another session has locked is skipped, because the leases of the other rows would end while this one waits. A
-- lease that was not renewed though its row still belongs to it is not lost: its row was locked.
WITH /*clock*/,
leases AS MATERIALIZED (SELECT * FROM unnest(?::text[], ?::text[]) AS lease (gid, token)),
free AS MATERIALIZED (
  SELECT t.gid
  FROM leases JOIN counterstep_transactions t ON t.gid = leases.gid
  WHERE t.token = leases.token AND t.live = 1 AND t.owned = 1
  ORDER BY t.gid
  FOR UPDATE OF t SKIP LOCKED
),
renewed AS (
  UPDATE counterstep_transactions t
  SET due_at = clock.now + ?::bigint
  FROM free, clock
  WHERE t.gid = free.gid
  RETURNING t.gid, t.version
)
SELECT now, leases.gid, renewed.version, CASE WHEN t.gid IS NULL THEN 0 ELSE 1 END AS is_owned
FROM clock
  LEFT JOIN leases ON TRUE
  LEFT JOIN renewed ON renewed.gid = leases.gid
  LEFT JOIN counterstep_transactions t ON t.gid = leases.gid AND t.token = leases.token AND t.live = 1 AND t.owned = 1
