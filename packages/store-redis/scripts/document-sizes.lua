#!lua flags=no-writes
-- The answer has the name of each document of the category, and after each name the bytes of the document.
local answer = {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if name ~= '' then
    table.insert(answer, name)
    table.insert(answer, redis.call('HSTRLEN', KEYS[1], name))
  end
end
return answer
