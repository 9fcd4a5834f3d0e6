-- The changes of all rows in the indexes of their shard are gathered, so that one command for each index writes them all.
-- The first keys of the script are the indexes due, created and done, and the counts. For an index the arguments of ZADD or
-- ZREM are gathered, and for the counts a number for each field.
local INDEX_KEYS = 4

local function noChanges()
  return { due = {}, undue = {}, created = {}, done = {}, undone = {}, counts = {}, gids = {} }
end

local changes = noChanges()

local function writeIndexes()
  local gathered = changes
  -- The changes are emptied first, so that nothing is written twice if one of the commands fails.
  changes = noChanges()
  if #gathered.due > 0 then call('ZADD', KEYS[1], unpack(gathered.due)) end
  if #gathered.undue > 0 then call('ZREM', KEYS[1], unpack(gathered.undue)) end
  if #gathered.created > 0 then call('ZADD', KEYS[2], unpack(gathered.created)) end
  if #gathered.done > 0 then call('ZADD', KEYS[3], unpack(gathered.done)) end
  if #gathered.undone > 0 then call('ZREM', KEYS[3], unpack(gathered.undone)) end
  for field, by in pairs(gathered.counts) do
    if by ~= 0 then call('HINCRBY', KEYS[4], field, writeWhole(by)) end
  end
end

-- Runs before a row is written. If an earlier row of this call has the same gid, its changes of the indexes are written
-- first.
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
