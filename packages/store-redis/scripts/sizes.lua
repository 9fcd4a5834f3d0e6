#!lua flags=no-writes
-- The keys are the row and the definition of each gid. The answer has the bytes of both together for each gid.
local answer = {}
for i = 1, #KEYS, 2 do
  table.insert(answer, redis.call('STRLEN', KEYS[i]) + redis.call('STRLEN', KEYS[i + 1]))
end
return answer
