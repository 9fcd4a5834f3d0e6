-- Writes copies of one finished row, as the store's own scripts would have left them.
-- Keys: the two indexes of a shard, then row and definition of each copy.
-- Arguments: the row's text before its three instants, and after them; the definition;
-- then, for each copy, its gid and the three instants: created, updated, purged.
local createdKey, doneKey = KEYS[1], KEYS[2]
local before, after, definition = ARGV[1], ARGV[2], ARGV[3]
for i = 1, (#ARGV - 3) / 4 do
  local gid, createdAt, updatedAt, endAt = unpack(ARGV, 4 * i, 4 * i + 3)
  redis.call('SET', KEYS[1 + 2 * i], before .. createdAt .. ' ' .. updatedAt .. ' ' .. endAt .. after, 'PXAT', endAt)
  redis.call('SET', KEYS[2 + 2 * i], definition, 'PXAT', endAt)
  redis.call('ZADD', createdKey, createdAt, gid)
  redis.call('ZADD', doneKey, endAt, gid)
end
