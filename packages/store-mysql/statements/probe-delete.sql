-- This needs the right to DELETE, and touches no row.
DELETE FROM counterstep_transactions WHERE FALSE
