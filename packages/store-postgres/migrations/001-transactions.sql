-- minReader: 1
-- Every text compares by its bytes, whatever the collation of the database. The room that fillfactor leaves in each page lets a save
-- that moves no due instant stay in its page and write no index. A saga leaves one dead row behind, so the table is vacuumed
-- after a fiftieth of its rows and not after a fifth.
CREATE TABLE IF NOT EXISTS counterstep_transactions (
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version bigint NOT NULL,
  epoch bigint NOT NULL,
  format integer NOT NULL,
  claims integer NOT NULL,
  attempts integer NOT NULL,
  live smallint NOT NULL,
  kind smallint NOT NULL,
  status smallint NOT NULL,
  owned smallint NOT NULL,
  sent_list smallint NOT NULL,
  retrying smallint NOT NULL,
  attention smallint NOT NULL,
  marks smallint NOT NULL,
  gid text COLLATE "C" NOT NULL,
  token text COLLATE "C" NOT NULL,
  write_id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  tags text COLLATE "C",
  problem text COLLATE "C",
  progress text COLLATE "C" NOT NULL,
  definition text COLLATE "C" NOT NULL,
  CONSTRAINT counterstep_gid PRIMARY KEY (gid)
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05
);
CREATE INDEX IF NOT EXISTS counterstep_due ON counterstep_transactions (live, due_at);
CREATE INDEX IF NOT EXISTS counterstep_created ON counterstep_transactions (created_at, gid);
-- A row with an empty key is not a document. It is the lock of its category, and its version counts the writes that were
-- tried there.
CREATE TABLE IF NOT EXISTS counterstep_documents (
  version bigint NOT NULL,
  updated_at bigint NOT NULL,
  category text COLLATE "C" NOT NULL,
  document_key text COLLATE "C" NOT NULL,
  write_id text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  CONSTRAINT counterstep_document PRIMARY KEY (category, document_key)
);
-- The list finds rows by their tags through this table. Each tag of a row is one entry.
CREATE TABLE IF NOT EXISTS counterstep_tags (
  created_at bigint NOT NULL,
  tag text COLLATE "C" NOT NULL,
  gid text COLLATE "C" NOT NULL,
  CONSTRAINT counterstep_tag PRIMARY KEY (tag, created_at, gid)
)
