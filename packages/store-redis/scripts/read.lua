#!lua flags=no-writes
-- The keys are the due index, then the row and the definition of each gid. The arguments are the gids. The answer has for
-- each gid the text, the definition and the due instant. All three are nil if there is no such row.
local answer = {}
for i, gid in ipairs(ARGV) do
  table.insert(answer, redis.call('GET', KEYS[i * 2]))
  table.insert(answer, redis.call('GET', KEYS[i * 2 + 1]))
  table.insert(answer, redis.call('ZSCORE', KEYS[1], gid))
end
return answer
