-- A row that another session has locked is skipped, because the leases of the other rows would end while this one waits.
SELECT t.id, t.gid, t.version
FROM (/*rows UNION ALL*/SELECT _binary ? AS gid, _binary ? AS token/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
WHERE t.token = v.token AND t.live = 1 AND t.owned = 1
FOR UPDATE SKIP LOCKED
