-- This is list.sql for unfinished rows in the order of their due instants.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention, name, tags, problem, attempts, marks
FROM (
  SELECT id AS scanned_id
  FROM transactions
  WHERE live = 1 AND due_at >= $cursorAt AND (due_at > $cursorAt OR gid > $cursorGid)
  ORDER BY due_at, gid
  LIMIT $scanRowsMax
)
CROSS JOIN transactions ON id = scanned_id
WHERE ($kind IS NULL OR kind = $kind)
  AND ($retrying IS NULL OR retrying = $retrying)
  AND ($statusBits IS NULL OR ($statusBits >> status) & 1 = 1)
  AND ($attention IS NULL OR attention = $attention)
  AND created_at >= $createdFrom AND created_at < $createdTo
  AND ($gidPrefix IS NULL OR substr(gid, 1, length($gidPrefix)) = $gidPrefix)
  AND ($name IS NULL OR name = $name)
  AND ($problem IS NULL OR problem = $problem)
  AND ($markBits = 0 OR marks & $markBits = $markBits)
  AND ($tagParts IS NULL OR NOT EXISTS (SELECT 1 FROM json_each($tagParts) WHERE instr(coalesce(tags, ''), value) = 0))
LIMIT $matchesMax
