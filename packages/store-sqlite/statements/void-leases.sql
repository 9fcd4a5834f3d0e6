-- Only one process has the file open, so the process that owned a row before is dead.
UPDATE transactions SET owned = 0, due_at = ? WHERE live = 1 AND owned = 1
