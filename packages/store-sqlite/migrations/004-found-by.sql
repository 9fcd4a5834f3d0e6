-- minReader: 1
-- A list shows and finds rows by these columns. Older code writes beside them: it leaves the first two empty, and the others as
-- they are. They stand behind the two texts, so reading them from a row that is larger than a page reads its overflow pages.
-- That is why the statistics read them from two small indexes. Only rows in trouble are in these indexes, so that a
-- transaction that succeeds at once writes neither. SQLite reads the table once for each column and each index, so a
-- file of a million rows takes some seconds, once.
ALTER TABLE transactions ADD COLUMN name TEXT;
ALTER TABLE transactions ADD COLUMN tags TEXT;
ALTER TABLE transactions ADD COLUMN problem TEXT;
ALTER TABLE transactions ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transactions ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX transactions_problem ON transactions (problem, attention, created_at) WHERE live = 1 AND problem IS NOT NULL;
CREATE INDEX transactions_marks ON transactions (marks) WHERE live = 1 AND marks <> 0;
