#!lua flags=allow-oom
-- The keys are the two indexes, then the row and the definition of each gid whose time may be over. The arguments are the
-- gids. A row that Redis has expired by itself is still in the indexes, and is counted when it leaves them.
-- @include time
local doneKey, createdKey = KEYS[1], KEYS[2]
local now = nowMs()

local over, keys = {}, {}
for i, gid in ipairs(ARGV) do
  local endAt = redis.call('ZSCORE', doneKey, gid)
  if endAt and tonumber(endAt) <= now then
    table.insert(over, gid)
    table.insert(keys, KEYS[1 + i * 2])
    table.insert(keys, KEYS[2 + i * 2])
  end
end
if #over > 0 then
  redis.call('UNLINK', unpack(keys))
  redis.call('ZREM', createdKey, unpack(over))
  redis.call('ZREM', doneKey, unpack(over))
end
return #over
