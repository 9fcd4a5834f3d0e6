-- The server lists only tables that this user may use.
SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('counterstep_transactions', 'counterstep_documents', 'counterstep_tags')
