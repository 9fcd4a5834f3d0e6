-- find-postponable.sql has locked the rows. The token and the version stay, so that a save of the former owner still
-- applies.
UPDATE (/*rows UNION ALL*/SELECT ? AS id/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
SET t.due_at = ?, t.owned = 0
