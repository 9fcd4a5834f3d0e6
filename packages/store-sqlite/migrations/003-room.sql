-- minReader: 1
-- A new row has these blank bytes, and its first save gives them back. Without them the row would outgrow its page and
-- split it, and after a split SQLite looks through its whole page cache at COMMIT. Code of schema 1 gives a new row no such
-- bytes, and leaves those that a row has. SQLite reads a STRICT table once when it gets a column, which takes about a second
-- for a million rows.
ALTER TABLE transactions ADD COLUMN room BLOB;
