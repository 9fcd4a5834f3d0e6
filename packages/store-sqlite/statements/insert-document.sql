INSERT INTO documents (category, key, text, write_id, updated_at, version) VALUES (?, ?, ?, ?, ?, 1)
