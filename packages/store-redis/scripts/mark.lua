#!lua
-- This writes the next mark, unless a later one is already there, and answers the mark that was there before.
local number, instant, keptMs = unpack(ARGV)
local before = redis.call('GET', KEYS[1])
if not before or tonumber(string.match(before, '^%d+')) < tonumber(number) then
  redis.call('SET', KEYS[1], number .. ' ' .. instant, 'PX', keptMs)
end
return before
