-- This reads the last row that a full scan has seen, and the next one, if there are so many rows. The mark stands for a scan of
-- one row more.
SELECT scanned_at, scanned_gid FROM (/*scan*/) LIMIT 2 OFFSET $rowsMax - 2
