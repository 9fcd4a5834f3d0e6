#!lua flags=no-writes
-- Keys: row and definition of each candidate. Arguments: newest known format.
-- Answers the bytes of each, and -1 where nobody here may take it: a key of another type spoils only its own row.
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
    row = rowOf(head)
  elseif not string.find(failure.err, 'WRONGTYPE', 1, true) then
    return failure
  end
  local isClaimable = row and row.endAt == '0' and isKnown(row, formatMax)
  table.insert(answer, isClaimable and redis.call('STRLEN', KEYS[i]) + definitionBytes or -1)
end
return answer
