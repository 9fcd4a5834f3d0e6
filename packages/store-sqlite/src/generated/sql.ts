// Written by embed-sql.ts from statements/ and migrations/; change those.
export const STATEMENTS = {
  claim: "-- sent_list: 'released' (2) becomes 'held' (1), everything else 'unknown' (0).\nUPDATE transactions\nSET token = ?, due_at = ?, owned = 1, version = version + 1, epoch = epoch + 1, claims = claims + 1,\n  sent_list = CASE sent_list WHEN 2 THEN 1 ELSE 0 END\nWHERE gid = ?\nRETURNING\n  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,\n  claims, retrying, attention, created_at, updated_at, due_at\n",
  countDocuments: "SELECT count(*) FROM documents WHERE category = ?\n",
  countFreeBytes: "-- The bytes of the pages that the file has and does not use: a purge leaves them, and new rows take them.\nSELECT freelist.freelist_count * page.page_size FROM pragma_freelist_count() AS freelist, pragma_page_size() AS page\n",
  create: "INSERT INTO transactions (\n  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list, due_at,\n  created_at, updated_at, room, live, version, epoch, claims, retrying, attention\n)\nVALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, zeroblob(?), 1, 1, 1, 0, 0, 0)\nON CONFLICT (gid) DO NOTHING\n",
  deleteDocument: "DELETE FROM documents WHERE category = ? AND key = ?\n",
  findDue: "-- Now or, if that is lower, the instant before PARKED_AT; the newest known format; the limit.\n-- A row whose codes nobody knows is left alone: it would spoil the claim of its neighbours.\nSELECT gid FROM transactions\nWHERE live = 1 AND due_at <= ? AND format <= ? AND kind BETWEEN 0 AND 2 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2\nORDER BY due_at, id\nLIMIT ?\n",
  insertDocument: "INSERT INTO documents (category, key, text, write_id, updated_at, version) VALUES (?, ?, ?, ?, ?, 1)\n",
  listScanEnd: "-- The last row that a full scan of the same range has seen, if it is that long.\nSELECT created_at, gid\nFROM transactions\nWHERE created_at >= $createdFrom AND created_at < $createdTo AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)\nORDER BY created_at DESC, gid DESC\nLIMIT 2 OFFSET $scanRowsMax - 1\n",
  list: "-- The inner LIMIT bounds what a page scans. A filter that is NULL lets every row pass; $statusBits is a bit set of statuses.\nSELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention\nFROM (\n  SELECT gid, kind, status, created_at, updated_at, due_at, epoch, retrying, attention\n  FROM transactions\n  WHERE created_at >= $createdFrom AND created_at < $createdTo AND created_at <= $cursorAt AND (created_at < $cursorAt OR gid < $cursorGid)\n  ORDER BY created_at DESC, gid DESC\n  LIMIT $scanRowsMax\n)\nWHERE ($kind IS NULL OR kind = $kind)\n  AND ($retrying IS NULL OR retrying = $retrying)\n  AND ($statusBits IS NULL OR ($statusBits >> status) & 1 = 1)\n  AND ($attention IS NULL OR attention = $attention)\nLIMIT $matchesMax\n",
  postpone: "-- Neither token nor version: what a former owner saves still applies.\nUPDATE transactions SET due_at = ?, owned = 0 WHERE gid = ?\n",
  purge: "DELETE FROM transactions\nWHERE id IN (SELECT id FROM transactions WHERE live = 0 AND due_at <= ? ORDER BY due_at LIMIT ?)\n",
  readDocumentHead: "SELECT version, write_id FROM documents WHERE category = ? AND key = ?\n",
  readDocuments: "-- One page: keys above the last one of the page before. They compare by their bytes.\nSELECT category, key, text, version, updated_at\nFROM documents\nWHERE category = ? AND key > ?\nORDER BY key\nLIMIT ?\n",
  readHold: "-- The last column: whether the row's codes are known. Codes that nobody here knows are a newer format, whatever its number.\nSELECT\n  live, owned, due_at, format,\n  kind BETWEEN 0 AND 2 AND status BETWEEN 0 AND 5 AND sent_list BETWEEN 0 AND 2\nFROM transactions\nWHERE gid = ?\n",
  readKey: "SELECT token, write_id, version, digest, status, created_at FROM transactions WHERE gid = ?\n",
  read: "SELECT\n  gid, kind, status, format, digest, definition, progress, version, token, epoch, write_id, owned, sent_list,\n  claims, retrying, attention, created_at, updated_at, due_at\nFROM transactions\nWHERE gid = ?\n",
  renew: "UPDATE transactions\nSET due_at = ?\nWHERE gid = ? AND token = ? AND live = 1 AND owned = 1\nRETURNING version\n",
  saveCommand: "UPDATE transactions\nSET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,\n  sent_list = coalesce(?, sent_list), claims = 0, room = NULL, updated_at = ?,\n  due_at = CASE owned WHEN 1 THEN due_at ELSE ? END\nWHERE gid = ? AND token = ? AND version = ? AND live = 1\n",
  saveFinish: "UPDATE transactions\nSET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,\n  sent_list = coalesce(?, sent_list), claims = 0, room = NULL, updated_at = ?,\n  owned = 0, live = 0, due_at = ?\nWHERE gid = ? AND token = ? AND version = ? AND live = 1\n",
  saveKeep: "-- Neither the owner nor the due instant: no index is touched.\nUPDATE transactions\nSET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,\n  sent_list = coalesce(?, sent_list), claims = 0, room = NULL, updated_at = ?\nWHERE gid = ? AND token = ? AND version = ? AND live = 1\n",
  saveRelease: "UPDATE transactions\nSET version = version + 1, write_id = ?, status = ?, format = ?, progress = ?, retrying = ?, attention = ?,\n  sent_list = coalesce(?, sent_list), claims = 0, room = NULL, updated_at = ?,\n  owned = 0, due_at = ?\nWHERE gid = ? AND token = ? AND version = ? AND live = 1\n",
  stats: "SELECT status, attention, count(*), min(due_at) FROM transactions WHERE live = 1 GROUP BY status, attention\n",
  updateDocument: "UPDATE documents SET text = ?, write_id = ?, updated_at = ?, version = version + 1 WHERE category = ? AND key = ?\n",
  voidLeases: "-- One process holds the file: whoever owned a row is dead.\nUPDATE transactions SET owned = 0, due_at = ? WHERE live = 1 AND owned = 1\n",
} as const

// The place of each column in a row of that statement.
export const COLUMNS = {
  claim: { gid: 0, kind: 1, status: 2, format: 3, digest: 4, definition: 5, progress: 6, version: 7, token: 8, epoch: 9, writeId: 10, owned: 11, sentList: 12, claims: 13, retrying: 14, attention: 15, createdAt: 16, updatedAt: 17, dueAt: 18 },
  findDue: { gid: 0 },
  listScanEnd: { createdAt: 0, gid: 1 },
  list: { gid: 0, kind: 1, status: 2, createdAt: 3, updatedAt: 4, dueAt: 5, epoch: 6, retrying: 7, attention: 8 },
  readDocumentHead: { version: 0, writeId: 1 },
  readDocuments: { category: 0, key: 1, text: 2, version: 3, updatedAt: 4 },
  readKey: { token: 0, writeId: 1, version: 2, digest: 3, status: 4, createdAt: 5 },
  read: { gid: 0, kind: 1, status: 2, format: 3, digest: 4, definition: 5, progress: 6, version: 7, token: 8, epoch: 9, writeId: 10, owned: 11, sentList: 12, claims: 13, retrying: 14, attention: 15, createdAt: 16, updatedAt: 17, dueAt: 18 },
  renew: { version: 0 },
} as const

export const MIGRATIONS = [
  { version: 1, minReader: 1, name: "001-transactions", sql: "-- minReader: 1\n-- Small columns first, the two texts last: a scan of the small ones then reads no overflow page.\nCREATE TABLE transactions (\n  id INTEGER PRIMARY KEY,\n  gid TEXT NOT NULL,\n  live INTEGER NOT NULL,\n  due_at INTEGER NOT NULL,\n  created_at INTEGER NOT NULL,\n  updated_at INTEGER NOT NULL,\n  kind INTEGER NOT NULL,\n  status INTEGER NOT NULL,\n  format INTEGER NOT NULL,\n  version INTEGER NOT NULL,\n  epoch INTEGER NOT NULL,\n  owned INTEGER NOT NULL,\n  sent_list INTEGER NOT NULL,\n  claims INTEGER NOT NULL,\n  retrying INTEGER NOT NULL,\n  attention INTEGER NOT NULL,\n  token TEXT NOT NULL,\n  write_id TEXT NOT NULL,\n  digest TEXT NOT NULL,\n  progress TEXT NOT NULL,\n  definition TEXT NOT NULL\n) STRICT;\n\n-- The only index in random order.\nCREATE UNIQUE INDEX transactions_gid ON transactions (gid);\n\nCREATE INDEX transactions_due ON transactions (live, due_at);\n\n-- In order of insertion, so it costs one append; for the list alone.\nCREATE INDEX transactions_created ON transactions (created_at);\n" },
  { version: 2, minReader: 1, name: "002-documents", sql: "-- minReader: 1\n-- Code of schema 1 does not know the table and needs nothing of it.\nCREATE TABLE documents (\n  category TEXT NOT NULL,\n  key TEXT NOT NULL,\n  version INTEGER NOT NULL,\n  updated_at INTEGER NOT NULL,\n  write_id TEXT NOT NULL,\n  text TEXT NOT NULL,\n  PRIMARY KEY (category, key)\n) STRICT;\n" },
  { version: 3, minReader: 1, name: "003-room", sql: "-- minReader: 1\n-- Blank bytes in a new row, which its first save gives back: a row that outgrows its page splits it, and after a split\n-- SQLite looks through its whole page cache at COMMIT. Code of schema 1 gives a row none, and keeps what a row has.\n-- SQLite reads a STRICT table once when it gets a column: about a second for a million rows.\nALTER TABLE transactions ADD COLUMN room BLOB;\n" },
] as const
