#!lua
-- Writes the next mark, unless a later one has overtaken it, and answers the one that was there before.
local number, instant, keptMs = unpack(ARGV)
local before = redis.call('GET', KEYS[1])
if not before or tonumber(string.match(before, '^%d+')) < tonumber(number) then
  redis.call('SET', KEYS[1], number .. ' ' .. instant, 'PX', keptMs)
end
return before
