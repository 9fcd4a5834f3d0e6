#!lua
-- Keys: the due index, then the row of each candidate. Arguments: by how much, newest known format, PARKED_AT, then the
-- gid of each. Answers now, then for each '1' where it was moved, '' where it is not due any more, '+' where it is left for
-- the next call, and '!' where nobody here may take it.
-- @include time
-- @include row
-- @include readable
-- @include known
-- Only the text of a row that was held is written anew: of so many bytes in one call, which holds up everybody else.
local TEXT_BYTES_MAX = 1024 * 1024
local dueKey = KEYS[1]
local byMs, formatMax, parkedAt = unpack(ARGV)

local now = nowMs()
local dueAgainAt = whole(now + tonumber(byMs))

local answer = { now }
local writes, instants = {}, {}
local bytes = 0
for i = 2, #KEYS do
  local rowKey, gid = KEYS[i], ARGV[2 + i]
  local moved = ''
  local dueAt = tonumber(redis.call('ZSCORE', dueKey, gid) or parkedAt)
  if dueAt < tonumber(parkedAt) and dueAt <= now then
    local row, failure = readableRow(rowKey)
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
      -- The owner loses the hold, not his token: what he still saves under it counts.
      row.owned = '0'
      table.insert(writes, { rowKey, headOf(row) .. string.sub(text, row.progressAt) })
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
