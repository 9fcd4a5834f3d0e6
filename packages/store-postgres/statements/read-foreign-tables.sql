-- This asks for tables of ours that somebody else owns, whose triggers would run with the rights of whoever uses them, and for indexes, which a
-- migration would take for its own. A superuser has all rights anyway.
SELECT class.relname, owner.rolname
FROM pg_catalog.pg_class AS class
JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
JOIN pg_catalog.pg_roles AS owner ON owner.oid = class.relowner
WHERE space.nspname = ANY (pg_catalog.current_schemas(false))
  AND class.relname IN (
    'counterstep_schema', 'counterstep_transactions', 'counterstep_documents', 'counterstep_tags',
    'counterstep_due', 'counterstep_created'
  )
  AND owner.rolname <> current_user AND NOT owner.rolsuper
