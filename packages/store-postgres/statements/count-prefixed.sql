-- This reads no more rows than the limit.
SELECT count(*) FROM (SELECT 1 FROM counterstep_transactions WHERE gid >= ? AND gid < ? LIMIT ?) prefixed
