CREATE TABLE IF NOT EXISTS counterstep_schema (
  version integer NOT NULL PRIMARY KEY,
  min_reader integer NOT NULL,
  name text NOT NULL,
  applied_at bigint NOT NULL
)
