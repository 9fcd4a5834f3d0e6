-- Whoever writes a document goes through here, one after the other. It changes the row each time, so that the COMMIT
-- waits for the disk also where the answer was only read.
INSERT INTO counterstep_documents (category, document_key, version, updated_at, write_id, text)
VALUES (_binary ?, '', 1, 0, '', '')
ON DUPLICATE KEY UPDATE version = version + 1
