-- Beside what relies on it, since a proxy may have moved the session meanwhile.
SET @counterstep_now = ?
