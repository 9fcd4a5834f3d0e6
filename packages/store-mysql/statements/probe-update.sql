-- Needs the right to UPDATE, touches no row.
UPDATE counterstep_transactions SET claims = 0 WHERE FALSE
