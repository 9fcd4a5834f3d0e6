#!lua flags=no-writes
-- The key is an index of gids by instants. The arguments are the instant and the gid behind which to begin, the direction (`up` or
-- `down`) and the number of rows. The answer has each gid before its instant, in the direction. The place to begin at is found by
-- halving the ranks, so that a page costs the same however many rows share an instant.
local key, at, gid, direction, rows = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])

-- Lua compares by the locale, and Redis sorts by bytes.
local function compareBytes(left, right)
  for i = 1, math.min(#left, #right) do
    local difference = string.byte(left, i) - string.byte(right, i)
    if difference ~= 0 then return difference end
  end
  return #left - #right
end

-- Upward, the row of the pair itself is passed, too. A rank behind the last row is not passed.
local function isPassed(rank)
  local row = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')
  if row[1] == nil then return false end
  local score = tonumber(row[2])
  if score ~= at then return score < at end
  local order = compareBytes(row[1], gid)
  return order < 0 or (direction == 'up' and order == 0)
end

local first, last = 0, 1
while isPassed(last - 1) do
  first, last = last, last * 2
end
-- The rows below `first` are passed, and the one at `last - 1` is not.
last = last - 1
while first < last do
  local middle = math.floor((first + last) / 2)
  if isPassed(middle) then first = middle + 1 else last = middle end
end
if direction == 'up' then return redis.call('ZRANGE', key, first, first + rows - 1, 'WITHSCORES') end
if first == 0 then return {} end
local page = redis.call('ZRANGE', key, math.max(0, first - rows), first - 1, 'WITHSCORES')
local turned = {}
for i = #page - 1, 1, -2 do
  table.insert(turned, page[i])
  table.insert(turned, page[i + 1])
end
return turned
