#!lua flags=no-writes
-- The keys are the row and the definition of each candidate. The argument is the newest known format. The answer has the
-- bytes of each candidate, and -1 for one that this version must not take. A key of another type is such a candidate, so
-- that the others do not fail with it.
-- @include row
-- @include known
local formatMax = ARGV[1]

local answer = {}
for i = 1, #KEYS, 2 do
  local head = redis.pcall('GETRANGE', KEYS[i], 0, HEAD_BYTES_MAX - 1)
  local definitionBytes = redis.pcall('STRLEN', KEYS[i + 1])
  local failure = type(head) == 'table' and head or type(definitionBytes) == 'table' and definitionBytes
  local row = nil
  if not failure then
    row = readRow(isCut(head) and readHeadBytes(KEYS[i]) or head)
  elseif not string.find(failure.err, 'WRONGTYPE', 1, true) then
    return failure
  end
  local isClaimable = row and row.endAt == '0' and isKnown(row, formatMax)
  table.insert(answer, isClaimable and redis.call('STRLEN', KEYS[i]) + definitionBytes or -1)
end
return answer
