-- The inner LIMIT bounds what a page scans. The source, the range, the order and the filters are in list-statements.ts.
SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention, name, tags, problem, attempts, marks
FROM (
  SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention, name, tags, problem, attempts, marks
  FROM /*source*/
  WHERE /*range*/
  ORDER BY /*order*/
  LIMIT ?
) scanned
WHERE /*filters*/
ORDER BY /*order*/
LIMIT ?
