-- One process holds the file: whoever owned a row is dead.
UPDATE transactions SET owned = 0, due_at = ? WHERE live = 1 AND owned = 1
