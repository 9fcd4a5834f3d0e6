-- This reads the index alone, and no more than the limit.
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM counterstep_transactions FORCE INDEX (counterstep_gid)
  WHERE gid >= _binary ? AND gid < _binary ?
  LIMIT ?
) prefixed
