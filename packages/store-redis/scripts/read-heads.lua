#!lua flags=no-writes
-- The keys are the due index, then the row of each gid. The arguments are the gids. The answer has for each gid the bytes of
-- the head, perhaps with the beginning of the progress, and the due instant.
-- @include row
local answer = {}
for i, gid in ipairs(ARGV) do
  table.insert(answer, readHeadBytes(KEYS[i + 1]))
  table.insert(answer, redis.call('ZSCORE', KEYS[1], gid))
end
return answer
