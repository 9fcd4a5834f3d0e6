-- The inner LIMIT bounds what a page scans. A filter that is NULL lets every row pass. $statusBits is a set of bits, one
-- for each status.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention
FROM (
  SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention
  FROM transactions
  WHERE created_at >= $createdFrom AND created_at < $createdTo AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)
  ORDER BY created_at DESC, gid DESC
  LIMIT $scanRowsMax
)
WHERE ($kind IS NULL OR kind = $kind)
  AND ($retrying IS NULL OR retrying = $retrying)
  AND ($statusBits IS NULL OR ($statusBits >> status) & 1 = 1)
  AND ($attention IS NULL OR attention = $attention)
LIMIT $matchesMax
