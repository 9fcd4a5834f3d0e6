-- This enters the tags of the rows that were created. Their text has a line feed before, between and after the tags.
entered AS (
  INSERT INTO counterstep_tags (tag, created_at, gid)
  SELECT unnest(string_to_array(btrim(tags, E'\n'), E'\n')), created_at, gid FROM created WHERE tags IS NOT NULL
  ON CONFLICT DO NOTHING
)
