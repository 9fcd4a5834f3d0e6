-- minReader: 1
-- Blank bytes in a new row, which its first save gives back: a row that outgrows its page splits it, and after a split
-- SQLite looks through its whole page cache at COMMIT. Code of schema 1 leaves room NULL, and loses only that.
ALTER TABLE transactions ADD COLUMN room BLOB;
