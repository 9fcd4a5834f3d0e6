-- These tables would be empty after a crash of the server.
SELECT class.relname
FROM pg_catalog.pg_class AS class
JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
WHERE space.nspname = ANY (pg_catalog.current_schemas(false))
  AND class.relname IN ('counterstep_schema', 'counterstep_transactions', 'counterstep_documents', 'counterstep_tags')
  AND class.relpersistence <> 'p'
