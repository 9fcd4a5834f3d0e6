-- See purge.sql: the join makes the server find the entries by their keys.
DELETE t
FROM (/*rows UNION ALL*/SELECT _binary ? AS tag, ? AS created_at, _binary ? AS gid/*end*/) v
STRAIGHT_JOIN counterstep_tags t FORCE INDEX (PRIMARY) ON t.tag = v.tag AND t.created_at = v.created_at AND t.gid = v.gid
