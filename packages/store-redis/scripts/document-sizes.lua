#!lua flags=no-writes
-- Answers each field of the category and its bytes, in turn.
local answer = {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if name ~= '' then
    table.insert(answer, name)
    table.insert(answer, redis.call('HSTRLEN', KEYS[1], name))
  end
end
return answer
