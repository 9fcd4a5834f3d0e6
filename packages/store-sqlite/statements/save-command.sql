UPDATE transactions
SET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,
  sent_list = coalesce(?, sent_list), problem = ?, attempts = ?, marks = ?, claims = 0, room = NULL, updated_at = ?,
  due_at = CASE owned WHEN 1 THEN due_at ELSE ? END
WHERE gid = ? AND token = ? AND version = ? AND live = 1
