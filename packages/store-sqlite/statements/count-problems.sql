-- Left to itself the planner takes the index of the due instants, and reads every unfinished row.
SELECT problem, attention, count(*), min(created_at)
FROM transactions INDEXED BY transactions_problem
WHERE live = 1 AND problem IS NOT NULL
GROUP BY problem, attention
