#!lua
-- The keys are the due index, then the row and the definition of each candidate. The arguments are the lease, the newest
-- known format and PARKED_AT, then the gid and the token of each candidate. The answer is now and the end of the lease,
-- then for each candidate its text and its definition. In place of the text it has '' for a candidate that is no longer
-- due, and '!' for one that this version must not take.
-- @include time
-- @include row
-- @include known
-- @include claim
local dueKey = KEYS[1]
local leaseMs, formatMax, parkedAt = unpack(ARGV)

local now = nowMs()
local leaseEnd = writeWhole(now + tonumber(leaseMs))

local answer = { now, leaseEnd }
local writes, leases = {}, {}
for i = 0, #KEYS / 2 - 1 do
  local rowKey, definitionKey = KEYS[2 + i * 2], KEYS[3 + i * 2]
  local gid, token = ARGV[4 + i * 2], ARGV[5 + i * 2]
  local taken, definition = '', ''
  local dueAt = tonumber(redis.call('ZSCORE', dueKey, gid) or parkedAt)
  if dueAt < tonumber(parkedAt) then
    local text = redis.call('GET', rowKey)
    local row = text and readRow(text)
    if row and row.token == token and row.owned == '1' and dueAt > now then
      -- This call has claimed the row and is sent again. The lease begins anew, and nothing else changes.
      taken = text
    elseif dueAt <= now then
      if row and row.endAt == '0' and isKnown(row, formatMax) then
        takeRow(row, token, now)
        taken = writeHead(row) .. string.sub(text, row.progressAt)
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
