-- The join makes the server find the rows by their keys, because a scan would wait for the locks of other nodes, and a
-- plain DELETE takes no FORCE INDEX.
DELETE t
FROM (/*rows UNION ALL*/SELECT ? AS id/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
