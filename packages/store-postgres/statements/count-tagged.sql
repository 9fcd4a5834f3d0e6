-- This reads no more entries than a page may scan.
SELECT count(*) FROM (SELECT 1 FROM counterstep_tags WHERE tag = ? LIMIT ?) tagged
