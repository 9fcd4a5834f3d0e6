-- The oldest accept is that of the rows that are not paused: $pausedBit is the bit of that mark.
SELECT
  status, attention, count(*), min(due_at),
  min(created_at) FILTER (
    WHERE id NOT IN (
      SELECT id FROM transactions INDEXED BY transactions_marks WHERE live = 1 AND marks <> 0 AND marks & $pausedBit <> 0
    )
  )
FROM transactions
WHERE live = 1
GROUP BY status, attention
