#!lua flags=no-writes
-- Keys: the due index, then the row of each gid. Arguments: the gids.
-- Answers the head's bytes (perhaps with the begin of the progress) and the due instant of each.
-- @include row
local answer = {}
for i, gid in ipairs(ARGV) do
  table.insert(answer, redis.call('GETRANGE', KEYS[i + 1], 0, HEAD_BYTES_MAX - 1))
  table.insert(answer, redis.call('ZSCORE', KEYS[1], gid))
end
return answer
