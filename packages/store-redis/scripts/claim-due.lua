#!lua
-- Keys: the due index, then row and definition of each candidate. Arguments: lease, newest known format, PARKED_AT,
-- then gid and token of each candidate. Answers now and the lease end, then for each candidate its text and its
-- definition; instead of a text '' where it is not due any more, and '!' where nobody here may take it.
-- @include time
-- @include row
-- @include known
-- @include claim
local dueKey = KEYS[1]
local leaseMs, formatMax, parkedAt = unpack(ARGV)

local now = nowMs()
local leaseEnd = whole(now + tonumber(leaseMs))

local answer = { now, leaseEnd }
local writes, leases = {}, {}
for i = 0, #KEYS / 2 - 1 do
  local rowKey, definitionKey = KEYS[2 + i * 2], KEYS[3 + i * 2]
  local gid, token = ARGV[4 + i * 2], ARGV[5 + i * 2]
  local taken, definition = '', ''
  local dueAt = tonumber(redis.call('ZSCORE', dueKey, gid) or parkedAt)
  if dueAt < tonumber(parkedAt) then
    local text = redis.call('GET', rowKey)
    local row = text and rowOf(text)
    if row and row.token == token and row.owned == '1' and dueAt > now then
      -- Mine, sent again: the lease begins anew, and nothing else changes.
      taken = text
    elseif dueAt <= now then
      if row and row.endAt == '0' and isKnown(row, formatMax) then
        takenBy(row, token, now)
        taken = headOf(row) .. string.sub(text, row.progressAt)
        table.insert(writes, { rowKey, taken })
      else
        taken = '!'
      end
    end
  end
  if taken ~= '' and taken ~= '!' then
    definition = redis.call('GET', definitionKey)
    table.insert(leases, leaseEnd)
    table.insert(leases, gid)
  end
  table.insert(answer, taken)
  table.insert(answer, definition)
end

for _, write in ipairs(writes) do redis.call('SET', write[1], write[2]) end
if #leases > 0 then redis.call('ZADD', dueKey, unpack(leases)) end
return answer
