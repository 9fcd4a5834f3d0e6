-- The changes of all rows in the indexes of their shard are gathered, so that one command for each index writes them all.
-- The first keys of the script are the indexes due, created and done, the counts, the index waiting, the problems, and the
-- indexes tags and tagged. For an index the arguments of ZADD or ZREM are gathered, and for the counts and the problems a number
-- for each field.
-- The index waiting is in the order of its members, each with a problem, an accept and a gid. It has a member for each live
-- row with a problem. A member without a problem stands for a live row that is not paused. It is written when the row waits
-- for the first time, so that a row that is finished by its first save has none.
local INDEX_KEYS = 8

local function noChanges()
  return { due = {}, undue = {}, created = {}, done = {}, undone = {}, counts = {}, gids = {}, waiting = {}, rested = {}, problems = {}, tags = {}, tagged = {} }
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
  if #gathered.rested > 0 then call('ZREM', KEYS[5], unpack(gathered.rested)) end
  if #gathered.waiting > 0 then call('ZADD', KEYS[5], unpack(gathered.waiting)) end
  if #gathered.tags > 0 then call('ZADD', KEYS[7], unpack(gathered.tags)) end
  if #gathered.tagged > 0 then call('ZADD', KEYS[8], unpack(gathered.tagged)) end
  for field, by in pairs(gathered.problems) do
    if by ~= 0 and call('HINCRBY', KEYS[6], field, writeWhole(by)) == 0 then call('HDEL', KEYS[6], field) end
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

-- The accept has as many digits in every member, so that the order of the members is that of the accepts.
local function toWaiting(problem, createdAt, gid)
  return problem .. ' ' .. format('%016.0f', createdAt) .. ' ' .. gid
end

-- Counts a live row with a problem, or one less. The number of those with attention has a field of its own.
local function countProblem(problem, attention, by)
  local counts = changes.problems
  counts[problem] = (counts[problem] or 0) + by
  if attention ~= '0' then
    local field = '! ' .. problem
    counts[field] = (counts[field] or 0) + by
  end
end
