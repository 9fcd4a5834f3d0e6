-- The join returns at least one row, so that the clock is read even if no transaction is live.
SELECT clock.now, counted.status, counted.attention, counted.transactions, counted.due_at
FROM (SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now) clock
LEFT JOIN (
  SELECT status, attention, COUNT(*) AS transactions, MIN(due_at) AS due_at
  FROM counterstep_transactions FORCE INDEX (counterstep_due)
  WHERE live = 1
  GROUP BY status, attention
) counted ON TRUE
