#!/bin/sh
# This script creates the user that `counterstep serve` connects as, with the rights that docs/stores.md lists, and sets
# its password to the one in the file. It may run again. The client itself reads MYSQL_HOST and MYSQL_TCP_PORT.
set -eu
. "${0%/*}/read-password.sh"
MYSQL_PWD=$(cat "$ROOT_PASSWORD_FILE")
export MYSQL_PWD
mysql --user=root <<SQL
CREATE USER IF NOT EXISTS counterstep@'%';
ALTER USER counterstep@'%' IDENTIFIED BY '$password';
GRANT SELECT, INSERT, UPDATE, DELETE ON counterstep.counterstep_transactions TO counterstep@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON counterstep.counterstep_documents TO counterstep@'%';
GRANT SELECT, INSERT, DELETE ON counterstep.counterstep_tags TO counterstep@'%';
GRANT SELECT ON counterstep.counterstep_schema TO counterstep@'%';
SQL
