-- The index of the due instants has no gid, so a page is sorted. This reads the index alone, to find the instant up to which
-- a page must be read.
SELECT due_at
FROM counterstep_transactions FORCE INDEX (counterstep_due)
WHERE live = 1 AND due_at > ?
ORDER BY due_at
LIMIT 1 OFFSET ?
