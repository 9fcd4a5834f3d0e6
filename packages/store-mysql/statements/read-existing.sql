SELECT gid, token, write_id, digest, status, created_at
FROM counterstep_transactions FORCE INDEX (counterstep_gid)
WHERE gid IN (/*rows ,*/_binary ?/*end*/)
