-- The last column tells whether this version knows the codes of the row. If it does not, a newer version has written the
-- row, whatever its format says.
SELECT
  live, owned, due_at, format,
  kind BETWEEN 0 AND 5 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
FROM transactions
WHERE gid = ?
