#!lua flags=allow-oom
-- The keys are the indexes done, created, tags and tagged, then the row and the definition of each gid whose time may be over. The
-- arguments are the gids. A row that Redis has expired by itself is still in the indexes, and is counted when it leaves them.
-- @include time
-- @include tags
local doneKey, createdKey, tagsKey, taggedKey = unpack(KEYS, 1, 4)
local now = nowMs()

local over, keys = {}, {}
for i, gid in ipairs(ARGV) do
  local endAt = redis.call('ZSCORE', doneKey, gid)
  if endAt and tonumber(endAt) <= now then
    table.insert(over, gid)
    table.insert(keys, KEYS[3 + i * 2])
    table.insert(keys, KEYS[4 + i * 2])
  end
end
if #over > 0 then
  redis.call('UNLINK', unpack(keys))
  redis.call('ZREM', createdKey, unpack(over))
  redis.call('ZREM', doneKey, unpack(over))
end
-- As many rows leave the index of the tags, if so many with tags are over. They need not be the same: the oldest go first in both.
local tagged = redis.call('ZRANGE', taggedKey, '-inf', writeWhole(now), 'BYSCORE', 'LIMIT', 0, #ARGV)
for _, member in ipairs(tagged) do
  local createdAt, gid, tags = readTagged(member)
  if tags then redis.call('ZREM', tagsKey, unpack(toTagMembers(tags, createdAt, gid))) end
end
if #tagged > 0 then redis.call('ZREM', taggedKey, unpack(tagged)) end
return #over
