-- This is list-scan-end.sql for the rows with a tag.
SELECT created_at, created_at AS due_at, gid
FROM counterstep_tags
WHERE /*range*/
ORDER BY /*order*/
LIMIT 2 OFFSET ?
