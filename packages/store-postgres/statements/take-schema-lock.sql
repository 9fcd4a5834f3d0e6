-- Locks of this kind belong to one database. The two numbers name the schema in which the tables are.
SELECT pg_advisory_xact_lock(hashtext('counterstep_schema'), hashtext(current_schema()))
