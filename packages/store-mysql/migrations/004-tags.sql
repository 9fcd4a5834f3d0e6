-- minReader: 1
-- The list finds rows by their tags through this table. Each tag of a row is one entry, and a row without tags has none. No
-- server of a release before this one writes a tag, so none leaves a row out of the table. Such a server that purges a row with
-- tags leaves its entries, and the list passes over an entry whose row is not there.
CREATE TABLE IF NOT EXISTS counterstep_tags (
  tag VARBINARY(289) NOT NULL,
  created_at BIGINT NOT NULL,
  gid VARBINARY(128) NOT NULL,
  PRIMARY KEY (tag, created_at, gid)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = ascii COLLATE = ascii_bin;
-- This enters the tags that are there already. Their text has a line feed before, between and after at most eight tags.
INSERT IGNORE INTO counterstep_tags (tag, created_at, gid)
SELECT SUBSTRING_INDEX(SUBSTRING_INDEX(tags, X'0A', places.place + 1), X'0A', -1), created_at, gid
FROM counterstep_transactions
STRAIGHT_JOIN (
  SELECT 1 AS place UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8
) places
WHERE tags IS NOT NULL AND places.place < LENGTH(tags) - LENGTH(REPLACE(tags, X'0A', ''))
