-- minReader: 1
-- The small columns come first and the two texts last, so that a scan of the small ones reads no overflow page.
CREATE TABLE transactions (
  id INTEGER PRIMARY KEY,
  gid TEXT NOT NULL,
  live INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  status INTEGER NOT NULL,
  format INTEGER NOT NULL,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  owned INTEGER NOT NULL,
  sent_list INTEGER NOT NULL,
  claims INTEGER NOT NULL,
  retrying INTEGER NOT NULL,
  attention INTEGER NOT NULL,
  token TEXT NOT NULL,
  write_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  progress TEXT NOT NULL,
  definition TEXT NOT NULL
) STRICT;

-- This is the only index that is written in random order.
CREATE UNIQUE INDEX transactions_gid ON transactions (gid);

CREATE INDEX transactions_due ON transactions (live, due_at);

-- Only the list uses this index. It is in the order of insertion, so a new row costs one append.
CREATE INDEX transactions_created ON transactions (created_at);
