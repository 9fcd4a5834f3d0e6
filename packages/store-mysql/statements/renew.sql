UPDATE (/*rows UNION ALL*/SELECT _binary ? AS gid, _binary ? AS token/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
SET t.due_at = ?
WHERE t.token = v.token AND t.live = 1 AND t.owned = 1
