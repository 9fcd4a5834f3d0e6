-- What rows change in their shard's indexes is gathered, so that one command does it to all of them: the first keys of
-- the script are due, created, done and counts. Of an index the arguments of ZADD or ZREM, of the counts a number by field.
local INDEX_KEYS = 4
local due, undue, created, done, undone, counts, met

local function beginIndexes()
  due, undue, created, done, undone, counts, met = {}, {}, {}, {}, {}, {}, {}
end

local function writeIndexes()
  if #due > 0 then call('ZADD', KEYS[1], unpack(due)) end
  if #undue > 0 then call('ZREM', KEYS[1], unpack(undue)) end
  if #created > 0 then call('ZADD', KEYS[2], unpack(created)) end
  if #done > 0 then call('ZADD', KEYS[3], unpack(done)) end
  if #undone > 0 then call('ZREM', KEYS[3], unpack(undone)) end
  for field, by in pairs(counts) do
    if by ~= 0 then call('HINCRBY', KEYS[4], field, whole(by)) end
  end
  beginIndexes()
end

-- Before a row's first change: what an earlier row of the same gid has changed comes first.
local function meet(gid)
  if met[gid] then writeIndexes() end
  met[gid] = true
end

local function put(index, score, gid)
  local length = #index
  index[length + 1] = score
  index[length + 2] = gid
end

local function countBy(field, by)
  counts[field] = (counts[field] or 0) + by
end
