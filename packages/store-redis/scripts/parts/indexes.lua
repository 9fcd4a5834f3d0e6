-- What rows change in their shard's indexes is gathered, so that one command does it to all of them: the first keys of
-- the script are due, created, done and counts. Of an index the arguments of ZADD or ZREM, of the counts a number by field.
local INDEX_KEYS = 4
local due, undue, created, done, undone, counts, met

local function beginIndexes()
  due, undue, created, done, undone, counts, met = {}, {}, {}, {}, {}, {}, {}
end

local function writeIndexes()
  local dueNow, undueNow, createdNow, doneNow, undoneNow, countsNow = due, undue, created, done, undone, counts
  -- First, so that nothing is written twice when one of them fails.
  beginIndexes()
  if #dueNow > 0 then call('ZADD', KEYS[1], unpack(dueNow)) end
  if #undueNow > 0 then call('ZREM', KEYS[1], unpack(undueNow)) end
  if #createdNow > 0 then call('ZADD', KEYS[2], unpack(createdNow)) end
  if #doneNow > 0 then call('ZADD', KEYS[3], unpack(doneNow)) end
  if #undoneNow > 0 then call('ZREM', KEYS[3], unpack(undoneNow)) end
  for field, by in pairs(countsNow) do
    if by ~= 0 then call('HINCRBY', KEYS[4], field, whole(by)) end
  end
end

-- Before a row is written: what an earlier row of the same gid has changed comes first.
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
