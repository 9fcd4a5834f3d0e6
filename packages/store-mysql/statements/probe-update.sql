-- This needs the right to UPDATE, and touches no row.
UPDATE counterstep_transactions SET claims = 0 WHERE FALSE
