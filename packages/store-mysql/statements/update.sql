-- Of one row, or of several that are set to the same but for write id, progress and due; what the hold sets is in
-- write-statements.ts. Never an insert: no purged row comes back.
UPDATE counterstep_transactions FORCE INDEX (counterstep_gid)
SET
  status = ?, format = ?, retrying = ?, attention = ?, sent_list = COALESCE(?, sent_list), claims = 0,
  version = GREATEST(version + 1, LAST_INSERT_ID()), updated_at = LAST_INSERT_ID(),
  write_id = ?, progress = ?/*hold*/
WHERE ? AND live = 1
