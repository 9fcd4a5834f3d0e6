#!/bin/sh
# This script starts a durable Redis. It has a user for Counterstep, which may do what docs/stores.md lists, and one for
# the health check.
set -eu
hash=$(printf %s "$(cat "$COUNTERSTEP_PASSWORD_FILE")" | sha256sum | cut -d ' ' -f 1)
cat > "$USERS_FILE" <<USERS
user default off
user health on nopass resetchannels resetkeys -@all +ping
user counterstep on #$hash resetchannels ~counterstep:* -@all +evalsha +eval +get +set +msetnx +getrange +strlen +unlink +pexpireat +hget +hmget +hset +hdel +hincrby +hkeys +hlen +hstrlen +zadd +zrem +zrange +zscore +exists +time +info +config|get +cluster|slots +select +asking
USERS
# The image's own entrypoint continues as the user redis.
exec docker-entrypoint.sh redis-server --appendonly yes --appendfsync always --maxmemory-policy noeviction \
  --aclfile "$USERS_FILE" "$@"
