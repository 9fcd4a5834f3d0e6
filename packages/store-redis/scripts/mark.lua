#!lua
-- Writes the next mark and answers the one before it, so that a lost tail shows.
local before = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return before
