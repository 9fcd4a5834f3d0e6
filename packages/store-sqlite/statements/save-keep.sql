-- The owner and the due instant stay, so that no index is written.
UPDATE transactions
SET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,
  sent_list = coalesce(?, sent_list), problem = ?, attempts = ?, marks = ?, claims = 0, room = NULL, updated_at = ?
WHERE gid = ? AND token = ? AND version = ? AND live = 1
