-- This reads why a row was not claimed.
WITH /*clock*/
SELECT live, owned, due_at, format, kind, status, sent_list, now FROM counterstep_transactions, clock WHERE gid = ?
