-- minReader: 1
-- Blank bytes in a new row, which its first save gives back: a row that outgrows its page splits it, and after a split
-- SQLite looks through its whole page cache at COMMIT. Code of schema 1 gives a row none, and keeps what a row has.
-- SQLite reads a STRICT table once when it gets a column: about a second for a million rows.
ALTER TABLE transactions ADD COLUMN room BLOB;
