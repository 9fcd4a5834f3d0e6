-- The join returns at least one row, so that the clock is read even if no transaction is live. The parameter is the number of
-- problems that are counted by their texts, the most frequent. The text of all rarer ones is ''.
SELECT
  clock.now, counted.status, counted.attention, counted.marks, counted.named, counted.transactions, counted.due_at,
  counted.created_at
FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) clock
LEFT JOIN (
  SELECT
    status, attention, marks, named,
    sum(transactions)::bigint AS transactions, min(due_at) AS due_at, min(created_at) AS created_at
  FROM (
    SELECT
      status, attention, marks, transactions, due_at, created_at,
      CASE WHEN place > ?::bigint AND problem IS NOT NULL THEN '' ELSE problem END AS named
    FROM (
      SELECT grouped.*, dense_rank() OVER (ORDER BY problem IS NULL, waiting DESC, problem) AS place
      FROM (
        SELECT
          status, attention, marks & 3::smallint AS marks, problem, count(*) AS transactions, min(due_at) AS due_at,
          min(created_at) AS created_at, sum(count(*)) OVER (PARTITION BY problem) AS waiting
        FROM counterstep_transactions
        WHERE live = 1
        GROUP BY status, attention, marks & 3::smallint, problem
      ) grouped
    ) ranked
  ) labelled
  GROUP BY status, attention, marks, named
) counted ON TRUE
