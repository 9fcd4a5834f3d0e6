-- This locks the row of the category, so that its writers come one after the other, and reads the clock.
INSERT INTO counterstep_documents (category, document_key, version, updated_at, write_id, text)
VALUES (?, '', 1, 0, '', '')
ON CONFLICT (category, document_key) DO UPDATE SET version = counterstep_documents.version + 1
RETURNING floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
