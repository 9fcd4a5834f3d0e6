-- The row of a key, or nothing: a key of another type spoils only its own row. Any other failure is the second answer.
local function readableRow(key)
  local head = redis.pcall('GETRANGE', key, 0, HEAD_BYTES_MAX - 1)
  if type(head) == 'string' then return rowOf(head) end
  if not string.find(head.err, 'WRONGTYPE', 1, true) then return nil, head end
end
