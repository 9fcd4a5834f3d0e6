SELECT marks, count(*) FROM transactions INDEXED BY transactions_marks WHERE live = 1 AND marks <> 0 GROUP BY marks
