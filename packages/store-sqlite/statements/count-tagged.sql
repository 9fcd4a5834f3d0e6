-- This counts no more entries than a page may scan.
SELECT count(*) FROM (SELECT 1 FROM tags WHERE tag = $tag LIMIT $rowsMax)
