-- This updates one row, or several rows that differ only in write id, progress, due instant, and in what they wait for. The
-- columns of the hold are in write-statements.ts. It never inserts, so that a purged row does not come back.
UPDATE counterstep_transactions FORCE INDEX (counterstep_gid)
SET
  status = ?, format = ?, retrying = ?, attention = ?, sent_list = COALESCE(?, sent_list), claims = 0,
  version = GREATEST(version + 1, LAST_INSERT_ID()), updated_at = LAST_INSERT_ID(),
  write_id = ?, progress = ?, problem = ?, attempts = ?, marks = ?/*hold*/
WHERE ? AND live = 1
