#!lua
-- The keys are the due index, then the row of each lease. The arguments are the length of a lease, then the gid and the
-- token of each lease. The answer is now, then for each lease the version of its row, or '' if the lease is lost.
-- @include time
-- @include row
-- @include readable
local dueKey = KEYS[1]
local now = nowMs()
local leaseEnd = writeWhole(now + tonumber(ARGV[1]))

local answer, leases = { now }, {}
for i = 0, #KEYS - 2 do
  local gid, token = ARGV[2 + i * 2], ARGV[3 + i * 2]
  local row, failure = readRowHead(KEYS[2 + i])
  if failure then return failure end
  local isMine = row and row.token == token and row.owned == '1' and row.endAt == '0'
  table.insert(answer, isMine and row.version or '')
  if isMine then
    table.insert(leases, leaseEnd)
    table.insert(leases, gid)
  end
end
if #leases > 0 then redis.call('ZADD', dueKey, unpack(leases)) end
return answer
