#!lua flags=no-writes
-- The keys are the problems and the index waiting. The arguments are the texts of some problems. The answer has for each
-- how many rows wait, how many of these have attention, and the member of the oldest in the index.
local answer = {}
for _, problem in ipairs(ARGV) do
  table.insert(answer, redis.call('HGET', KEYS[1], problem) or '0')
  table.insert(answer, redis.call('HGET', KEYS[1], '! ' .. problem) or '0')
  -- `!` is the character after the blank, which is in no text of a problem.
  table.insert(answer, redis.call('ZRANGE', KEYS[2], '[' .. problem .. ' ', '(' .. problem .. '!', 'BYLEX', 'LIMIT', 0, 1)[1] or '')
end
return answer
