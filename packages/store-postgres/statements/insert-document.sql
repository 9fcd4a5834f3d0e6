INSERT INTO counterstep_documents (category, document_key, text, write_id, updated_at, version) VALUES (?, ?, ?, ?, ?, 1)
