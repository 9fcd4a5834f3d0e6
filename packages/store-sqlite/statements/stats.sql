SELECT status, attention, count(*), min(due_at) FROM transactions WHERE live = 1 GROUP BY status, attention
