-- minReader: 1
-- The list finds rows by their tags through this table. Each tag of a row is one entry, and a row without tags has none. No code of
-- a release before this one writes a tag, so none leaves a row out of the table. Such code that purges a row with tags leaves
-- its entries, and the list passes over an entry whose row is not there.
CREATE TABLE tags (
  tag TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  gid TEXT NOT NULL,
  PRIMARY KEY (tag, created_at, gid)
) STRICT, WITHOUT ROWID;

-- This enters the tags that are there already. Their text has a line feed before, between and after them, and of all characters
-- that JSON escapes they have these two at most.
INSERT OR IGNORE INTO tags (tag, created_at, gid)
SELECT value, created_at, gid
FROM transactions
CROSS JOIN json_each(
  '["' || replace(replace(replace(trim(tags, char(10)), '\', '\\'), '"', '\"'), char(10), '","') || '"]'
)
WHERE tags IS NOT NULL;
