-- This reads the rows that a flush has not written, to find out why. The lock writes to the log, so the COMMIT waits until the rows
-- that were read are on each disk that it waits for. A row whose own COMMIT has lost its connection may be seen before that.
SELECT gid, token, write_id, version, live, digest, status, created_at
FROM counterstep_transactions
WHERE gid = ANY(?::text[])
FOR KEY SHARE
