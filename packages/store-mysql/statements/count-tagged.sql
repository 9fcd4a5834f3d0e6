-- This reads the index alone, and no more entries of it than a page may scan.
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM counterstep_tags FORCE INDEX (PRIMARY)
  WHERE tag = _binary ?
  LIMIT ?
) tagged
