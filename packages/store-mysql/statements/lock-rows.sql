-- This locks the rows in the order of their keys, so that two sessions cannot deadlock, whatever the order of the
-- statements that follow.
SELECT id FROM counterstep_transactions FORCE INDEX (counterstep_gid) WHERE gid IN (/*rows ,*/_binary ?/*end*/) ORDER BY gid FOR UPDATE
