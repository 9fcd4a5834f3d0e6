-- This asks for functions and operators that others can put, or have put, where the server looks for its own: they would run with the rights
-- of whoever migrates, or of the store. Every name here is qualified and every operator has the exact types, so that none of them runs meanwhile.
-- Extensions, superusers and the owner of the tables are trusted: the triggers of that owner run in any case.
WITH trusted AS MATERIALIZED (
  SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolsuper OR role.rolname = current_user
  UNION ALL
  SELECT tables.relowner FROM pg_catalog.pg_class AS tables
  WHERE tables.oid = pg_catalog.to_regclass('counterstep_transactions')::pg_catalog.oid
), searched AS MATERIALIZED (
  SELECT space.oid, space.nspname, space.nspacl FROM pg_catalog.pg_namespace AS space
  WHERE space.nspname = ANY (pg_catalog.current_schemas(false)) AND space.nspname <> 'pg_catalog'
), planted AS (
  SELECT routine.tableoid AS class, routine.oid, 'function' AS kind, routine.pronamespace AS space, routine.proname AS name, routine.proowner AS owner
  FROM pg_catalog.pg_proc AS routine
  WHERE EXISTS (
    SELECT FROM pg_catalog.pg_proc AS own
    WHERE own.proname = routine.proname AND own.pronamespace = 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
  )
  UNION ALL
  SELECT symbol.tableoid, symbol.oid, 'operator', symbol.oprnamespace, symbol.oprname, symbol.oprowner
  FROM pg_catalog.pg_operator AS symbol
  WHERE EXISTS (
    SELECT FROM pg_catalog.pg_operator AS own
    WHERE own.oprname = symbol.oprname AND own.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
  )
)
SELECT 'schema' AS kind, searched.nspname AS schema, searched.nspname AS name, 'public'::pg_catalog.name AS owner
FROM searched, LATERAL pg_catalog.aclexplode(searched.nspacl) AS granted
WHERE granted.grantee = 0::pg_catalog.oid AND granted.privilege_type = 'CREATE'
UNION ALL
SELECT planted.kind, searched.nspname, planted.name, pg_catalog.pg_get_userbyid(planted.owner)
FROM planted
JOIN searched ON searched.oid = planted.space
WHERE planted.owner NOT IN (SELECT trusted.oid FROM trusted)
  AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend AS member
    WHERE member.classid = planted.class AND member.objid = planted.oid AND member.deptype = 'e'
  )
