INSERT OR IGNORE INTO tags (tag, created_at, gid) VALUES (?, ?, ?)
