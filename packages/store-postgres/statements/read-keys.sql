-- This reads the rows that a flush has not written, to find out why.
SELECT gid, token, write_id, version, live, digest, status, created_at
FROM counterstep_transactions
WHERE gid = ANY(?::text[])
