-- This reads the last row that a full scan of the same range has seen, and the next one, if the range has so many rows.
SELECT created_at, due_at, gid
FROM /*source*/
WHERE /*range*/
ORDER BY /*order*/
LIMIT 2 OFFSET ?
