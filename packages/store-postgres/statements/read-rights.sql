-- This asks for the rights without which a transaction cannot be stored, and touches no row.
SELECT wanted.name, wanted.privilege
FROM (VALUES
  ('counterstep_transactions', 'SELECT'), ('counterstep_transactions', 'INSERT'),
  ('counterstep_transactions', 'UPDATE'), ('counterstep_transactions', 'DELETE'),
  ('counterstep_tags', 'SELECT'), ('counterstep_tags', 'INSERT'), ('counterstep_tags', 'DELETE')
) AS wanted (name, privilege)
WHERE NOT has_table_privilege(wanted.name, wanted.privilege)
