-- An entry whose row is gone has no id, nor has one whose gid was used again since.
SELECT
  (SELECT id FROM transactions WHERE gid = tags.gid AND created_at = tags.created_at) AS scanned_id,
  created_at AS scanned_at, gid AS scanned_gid
FROM tags
WHERE tag = $tag AND created_at >= $createdFrom AND created_at < $createdTo
  AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)
ORDER BY created_at DESC, gid DESC
LIMIT $rowsMax
