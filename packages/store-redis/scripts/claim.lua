#!lua
-- @include time
-- @include row
-- @include known
-- @include claim
local rowKey, definitionKey, dueKey = unpack(KEYS)
local gid, token, leaseMs, formatMax, parkedAt = unpack(ARGV)

local now = nowMs()
local text = redis.call('GET', rowKey)
if not text then return { 'absent' } end
local row = readRow(text)
if not row then return toUnreadableError(rowKey) end
if row.endAt ~= '0' then return { 'final' } end
local dueAt = tonumber(redis.call('ZSCORE', dueKey, gid) or '0')
if dueAt >= tonumber(parkedAt) then return { 'parked' } end
local leaseEnd = writeWhole(now + tonumber(leaseMs))
if row.token == token and row.owned == '1' and dueAt > now then
  -- This call has claimed the row and is sent again. The lease begins anew, and nothing else changes.
  redis.call('ZADD', dueKey, leaseEnd, gid)
  return { 'claimed', text, redis.call('GET', definitionKey), leaseEnd, now }
end
if row.owned == '1' and dueAt > now then return { 'held' } end
if not isKnown(row, formatMax) then return { 'format' } end

takeRow(row, token, now)
local taken = writeHead(row) .. string.sub(text, row.progressAt)
redis.call('SET', rowKey, taken)
redis.call('ZADD', dueKey, leaseEnd, gid)
return { 'claimed', taken, redis.call('GET', definitionKey), leaseEnd, now }
