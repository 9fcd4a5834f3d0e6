-- Returns the row of a key. It returns nothing for a key of another type, so that the other rows of the call do not fail
-- with it. Any other failure is the second value.
local function readRowHead(key)
  local head = redis.pcall('GETRANGE', key, 0, HEAD_BYTES_MAX - 1)
  if type(head) == 'string' then return readRow(isCut(head) and readHeadBytes(key) or head) end
  if not string.find(head.err, 'WRONGTYPE', 1, true) then return nil, head end
end
