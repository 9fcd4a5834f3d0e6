-- The inner LIMIT bounds what a page scans. A filter that is NULL lets every row pass. The filter of the status is a set of
-- bits, one for each status.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention
FROM (
  SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention
  FROM counterstep_transactions FORCE INDEX (counterstep_created)
  WHERE created_at >= ? AND created_at < ? AND created_at <= ? AND (created_at < ? OR gid < _binary ?)
  ORDER BY created_at DESC, gid DESC
  LIMIT ?
) scanned
WHERE (? IS NULL OR kind = ?)
  AND (? IS NULL OR retrying = ?)
  AND (? IS NULL OR attention = ?)
  AND (? IS NULL OR (? >> status) & 1 = 1)
ORDER BY created_at DESC, gid DESC
LIMIT ?
