SELECT gid FROM counterstep_transactions WHERE live = 0 AND gid = ANY(?::text[])
