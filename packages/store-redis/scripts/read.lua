#!lua flags=no-writes
-- Keys: the due index, then row and definition of each gid. Arguments: the gids.
-- Answers text, definition and due instant of each, or nothing thrice.
local answer = {}
for i, gid in ipairs(ARGV) do
  table.insert(answer, redis.call('GET', KEYS[i * 2]))
  table.insert(answer, redis.call('GET', KEYS[i * 2 + 1]))
  table.insert(answer, redis.call('ZSCORE', KEYS[1], gid))
end
return answer
