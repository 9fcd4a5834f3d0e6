#!lua
-- @include time
-- @include row
local rowKey, definitionKey, dueKey, createdKey, doneKey, countsKey = unpack(KEYS)
local gid, format, kind, status, digest, token, writeId, owned, sentList, dueInMs, definition, progress = unpack(ARGV)

local now = nowMs()
local old = redis.call('GETRANGE', rowKey, 0, HEAD_BYTES_MAX - 1)
if old ~= '' then
  local row = rowOf(old)
  if not row then return unreadable(rowKey) end
  -- Mine, sent again. The token belongs to it: once another owner has claimed the row, it is not mine any more.
  if row.token == token and row.writeId == writeId then return { 'created', row.createdAt, now } end
  return { 'exists', row.digest, row.status, now }
end

local createdAt = whole(now)
local head = headOf({
  format = format, kind = kind, status = status, version = '1', epoch = '1', owned = owned, sentList = sentList,
  claims = '0', retrying = '0', attention = '0', createdAt = createdAt, updatedAt = createdAt, endAt = '0',
  token = token, writeId = writeId, digest = digest,
})
redis.call('SET', rowKey, head .. progress)
redis.call('SET', definitionKey, definition)
redis.call('ZADD', dueKey, whole(now + tonumber(dueInMs)), gid)
-- An expired namesake that no purge has met yet may still stand in both.
redis.call('ZADD', createdKey, createdAt, gid)
redis.call('ZREM', doneKey, gid)
redis.call('HINCRBY', countsKey, status, 1)
return { 'created', createdAt, now }
