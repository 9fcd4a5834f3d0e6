#!/bin/sh
# This script creates the user that `counterstep serve` connects as, with the rights that docs/stores.md lists, and sets
# its password to the one in the file. It may run again. The client itself reads PGHOST, PGPORT, PGUSER and PGDATABASE.
set -eu
. "${0%/*}/read-password.sh"
PGPASSWORD=$(cat "$ADMIN_PASSWORD_FILE")
export PGPASSWORD
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<SQL
DO \$\$ BEGIN CREATE ROLE counterstep LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
ALTER ROLE counterstep PASSWORD '$password';
GRANT SELECT, INSERT, UPDATE, DELETE ON counterstep_transactions, counterstep_documents TO counterstep;
GRANT SELECT, INSERT, DELETE ON counterstep_tags TO counterstep;
GRANT SELECT ON counterstep_schema TO counterstep;
SQL
