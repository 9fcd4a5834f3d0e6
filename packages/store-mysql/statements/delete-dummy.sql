-- The join makes the server find the row by its key, because a scan would wait for the locks of other nodes, and a plain
-- DELETE takes no FORCE INDEX.
DELETE t
FROM (SELECT _binary ? AS gid) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
