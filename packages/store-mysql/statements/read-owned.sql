-- This reads which of the leases that find-renewable.sql has skipped still belong to their owner.
SELECT t.gid
FROM (/*rows UNION ALL*/SELECT _binary ? AS gid, _binary ? AS token/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
WHERE t.token = v.token AND t.live = 1 AND t.owned = 1
