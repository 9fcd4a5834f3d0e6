#!lua
-- The keys are the due index, then the row of each candidate. The arguments are the time to postpone by, the newest known
-- format and PARKED_AT, then the gid of each candidate. The answer is now, then for each candidate '1' if it was postponed,
-- '' if it is no longer due, '+' if it is left for the next call, and '!' if this version must not take it.
-- @include time
-- @include row
-- @include readable
-- @include known
-- The text of a row is written again only if the row has an owner. One call writes at most this many bytes, because Redis
-- serves no other client meanwhile.
local TEXT_BYTES_MAX = 1024 * 1024
local dueKey = KEYS[1]
local byMs, formatMax, parkedAt = unpack(ARGV)

local now = nowMs()
local dueAgainAt = writeWhole(now + tonumber(byMs))

local answer = { now }
local writes, instants = {}, {}
local bytes = 0
for i = 2, #KEYS do
  local rowKey, gid = KEYS[i], ARGV[2 + i]
  local moved = ''
  local dueAt = tonumber(redis.call('ZSCORE', dueKey, gid) or parkedAt)
  if dueAt < tonumber(parkedAt) and dueAt <= now then
    local row, failure = readRowHead(rowKey)
    if failure then return failure end
    if not row or row.endAt ~= '0' or not isKnown(row, formatMax) then
      moved = '!'
    elseif row.owned == '0' then
      moved = '1'
    elseif bytes >= TEXT_BYTES_MAX then
      moved = '+'
    else
      moved = '1'
      local text = redis.call('GET', rowKey)
      bytes = bytes + #text
      -- The owner loses its lease and keeps its token, so that what it still saves under the token applies.
      row.owned = '0'
      table.insert(writes, { rowKey, writeHead(row) .. string.sub(text, row.progressAt) })
    end
  end
  if moved == '1' then
    table.insert(instants, dueAgainAt)
    table.insert(instants, gid)
  end
  table.insert(answer, moved)
end

for _, write in ipairs(writes) do redis.call('SET', write[1], write[2]) end
if #instants > 0 then redis.call('ZADD', dueKey, unpack(instants)) end
return answer
