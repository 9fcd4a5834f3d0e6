-- The last column: whether the row's codes are known. Codes that nobody here knows are a newer format, whatever its number.
SELECT
  live, owned, due_at, format,
  kind BETWEEN 0 AND 2 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2
FROM transactions
WHERE gid = ?
