-- In the place of the mark stands one of the scan statements, which bounds what a page scans. A filter that is NULL lets every row
-- pass. $statusBits and $markBits are sets of bits. $tagParts is a list of texts in JSON, and the tags must have each of them. The
-- columns behind the texts of a row are read last, and only where a filter needs them. No scan gives such a column, since it
-- would read them of each row.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention, name, tags, problem, attempts, marks
FROM (/*scan*/)
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
