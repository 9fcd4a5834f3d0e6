-- The rows are locked by find-postponable.sql. Neither token nor version: what a former owner saves still applies.
UPDATE (/*rows UNION ALL*/SELECT ? AS id/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
SET t.due_at = ?, t.owned = 0
