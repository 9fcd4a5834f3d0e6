SELECT gid
FROM counterstep_transactions FORCE INDEX (counterstep_gid)
WHERE live = 0 AND gid IN (/*rows ,*/_binary ?/*end*/)
