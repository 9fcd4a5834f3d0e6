-- This reads and locks the rows that an update has not matched, to find out why.
SELECT gid, token, write_id, version, live
FROM counterstep_transactions FORCE INDEX (counterstep_gid)
WHERE gid IN (/*rows ,*/_binary ?/*end*/)
ORDER BY gid
FOR UPDATE
