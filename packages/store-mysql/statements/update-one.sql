-- As update.sql for a row that is alone, in a quarter of its words. What its hold sets is in update-one.ts.
UPDATE counterstep_transactions FORCE INDEX (counterstep_gid)
SET
  status = ?, format = ?, retrying = ?, attention = ?, sent_list = COALESCE(?, sent_list), claims = 0,
  version = GREATEST(version + 1, LAST_INSERT_ID()), updated_at = LAST_INSERT_ID(),
  write_id = _binary ?, progress = _binary ?/*hold*/
WHERE gid = _binary ? AND token = _binary ? AND version = ? AND live = 1
