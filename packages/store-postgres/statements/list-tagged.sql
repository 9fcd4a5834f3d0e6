-- This is list.sql for the rows with a tag. The innermost LIMIT bounds how many entries of the tag a page scans. An entry whose row
-- is gone meets no row, nor does one whose gid was used again since.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention, name, tags, problem, attempts, marks
FROM (
  SELECT gid AS tagged_gid, created_at AS tagged_at
  FROM counterstep_tags
  WHERE /*range*/
  ORDER BY /*order*/
  LIMIT ?
) tagged JOIN counterstep_transactions ON gid = tagged_gid AND created_at = tagged_at
WHERE /*filters*/
ORDER BY /*order*/
LIMIT ?
