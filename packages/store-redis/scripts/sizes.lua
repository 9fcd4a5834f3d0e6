#!lua flags=no-writes
-- Keys: row and definition of each gid. Answers the bytes of each.
local answer = {}
for i = 1, #KEYS, 2 do
  table.insert(answer, redis.call('STRLEN', KEYS[i]) + redis.call('STRLEN', KEYS[i + 1]))
end
return answer
