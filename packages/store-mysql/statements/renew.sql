-- find-renewable.sql has locked the rows.
UPDATE (/*rows UNION ALL*/SELECT ? AS id/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
SET t.due_at = ?
