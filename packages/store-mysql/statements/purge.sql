-- Joined, so that no scan waits for the locks of others: a plain DELETE takes no FORCE INDEX.
DELETE t
FROM (/*rows UNION ALL*/SELECT ? AS id/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
