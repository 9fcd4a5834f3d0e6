UPDATE counterstep_documents SET text = ?, write_id = ?, updated_at = ?, version = version + 1 WHERE category = ? AND document_key = ?
