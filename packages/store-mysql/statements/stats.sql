-- The join returns at least one row, so that the clock is read even if no transaction is live. The rows are read once. The
-- parameter is the number of problems that are counted by their texts, the most frequent. The text of all rarer ones is ''.
SELECT
  clock.now, counted.status, counted.attention, counted.marks, counted.named, counted.transactions, counted.due_at,
  counted.created_at
FROM (SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now) clock
LEFT JOIN (
  SELECT
    status, attention, marks, IF(place > ? AND problem IS NOT NULL, '', problem) AS named,
    SUM(transactions) AS transactions, MIN(due_at) AS due_at, MIN(created_at) AS created_at
  FROM (
    SELECT grouped.*, DENSE_RANK() OVER (ORDER BY problem IS NULL, waiting DESC, problem) AS place
    FROM (
      SELECT
        status, attention, marks & 3 AS marks, problem, COUNT(*) AS transactions, MIN(due_at) AS due_at,
        MIN(created_at) AS created_at, SUM(COUNT(*)) OVER (PARTITION BY problem) AS waiting
      FROM counterstep_transactions FORCE INDEX (counterstep_due)
      WHERE live = 1
      GROUP BY status, attention, marks & 3, problem
    ) grouped
  ) ranked
  GROUP BY status, attention, marks, named
) counted ON TRUE
