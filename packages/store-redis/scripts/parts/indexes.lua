-- What rows change in their shard's indexes is gathered, so that one command does it to all of them: the first keys of
-- the script are due, created, done and counts. Of an index the arguments of ZADD or ZREM, of the counts a number by field.
local INDEX_KEYS = 4

local function noChanges()
  return { due = {}, undue = {}, created = {}, done = {}, undone = {}, counts = {}, gids = {} }
end

local changes = noChanges()

local function writeIndexes()
  local gathered = changes
  -- First, so that nothing is written twice when one of them fails.
  changes = noChanges()
  if #gathered.due > 0 then call('ZADD', KEYS[1], unpack(gathered.due)) end
  if #gathered.undue > 0 then call('ZREM', KEYS[1], unpack(gathered.undue)) end
  if #gathered.created > 0 then call('ZADD', KEYS[2], unpack(gathered.created)) end
  if #gathered.done > 0 then call('ZADD', KEYS[3], unpack(gathered.done)) end
  if #gathered.undone > 0 then call('ZREM', KEYS[3], unpack(gathered.undone)) end
  for field, by in pairs(gathered.counts) do
    if by ~= 0 then call('HINCRBY', KEYS[4], field, whole(by)) end
  end
end

-- Before a row is written: what an earlier row of the same gid has changed comes first.
local function meet(gid)
  if changes.gids[gid] then writeIndexes() end
  changes.gids[gid] = true
end

local function put(index, score, gid)
  local length = #index
  index[length + 1] = score
  index[length + 2] = gid
end

local function take(index, gid)
  index[#index + 1] = gid
end

local function countBy(field, by)
  changes.counts[field] = (changes.counts[field] or 0) + by
end
