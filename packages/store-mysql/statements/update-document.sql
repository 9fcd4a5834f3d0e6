UPDATE counterstep_documents
SET text = _binary ?, write_id = _binary ?, updated_at = ?, version = version + 1
WHERE category = _binary ? AND document_key = _binary ?
