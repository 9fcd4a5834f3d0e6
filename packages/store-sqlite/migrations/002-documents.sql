-- minReader: 1
-- Code of schema 1 does not know the table and does not need it.
CREATE TABLE documents (
  category TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  write_id TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (category, key)
) STRICT;
