-- The statement that found the rows has locked them. They are looked up by their keys, because a scan would wait for the
-- locks of other nodes. The sent_list 'released' (2) becomes 'held' (1), and every other one becomes 'unknown' (0).
UPDATE (/*rows UNION ALL*/SELECT ? AS id, _binary ? AS token/*end*/) v
STRAIGHT_JOIN counterstep_transactions t FORCE INDEX (PRIMARY) ON t.id = v.id
SET
  t.token = v.token, t.due_at = ?, t.owned = 1, t.version = GREATEST(t.version + 1, ?), t.epoch = t.epoch + 1,
  t.claims = t.claims + 1, t.sent_list = IF(t.sent_list = 2, 1, 0)
