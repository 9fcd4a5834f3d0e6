-- minReader: 1
-- Older code writes beside the new columns: their defaults say that there is no name, no tag, no problem and no mark.
-- This is one statement, so that after a crash all of its columns are there or none, and the last ones of the table, so that
-- a server which can do so adds them without writing the rows anew. No mode of the server can do so is asked for by name,
-- because the oldest servers refuse it.
ALTER TABLE counterstep_transactions
  ADD COLUMN name VARBINARY(64) NULL,
  ADD COLUMN tags VARBINARY(2400) NULL,
  ADD COLUMN problem VARBINARY(1020) NULL,
  ADD COLUMN attempts INT NOT NULL DEFAULT 0,
  ADD COLUMN marks TINYINT UNSIGNED NOT NULL DEFAULT 0
