-- Joined, so that no scan waits for the locks of others: a plain DELETE takes no FORCE INDEX.
DELETE t
FROM (SELECT _binary ? AS gid) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (counterstep_gid) ON t.gid = v.gid
