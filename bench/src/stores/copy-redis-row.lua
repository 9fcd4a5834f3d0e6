-- This script writes copies of one finished row in the form in which the store's own scripts leave a row.
-- The keys are the two indexes of a shard, then the row and the definition of each copy.
-- The arguments are the row's text before its three instants, its text after them, and the definition. Then follow, for
-- each copy, its gid and the three instants: created, updated, purged.
local createdKey, doneKey = KEYS[1], KEYS[2]
local before, after, definition = ARGV[1], ARGV[2], ARGV[3]
for i = 1, (#ARGV - 3) / 4 do
  local gid, createdAt, updatedAt, endAt = unpack(ARGV, 4 * i, 4 * i + 3)
  redis.call('SET', KEYS[1 + 2 * i], before .. createdAt .. ' ' .. updatedAt .. ' ' .. endAt .. after, 'PXAT', endAt)
  redis.call('SET', KEYS[2 + 2 * i], definition, 'PXAT', endAt)
  redis.call('ZADD', createdKey, createdAt, gid)
  redis.call('ZADD', doneKey, endAt, gid)
end
