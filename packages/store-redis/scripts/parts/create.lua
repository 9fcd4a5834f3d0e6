local CREATE_KEYS, CREATE_WORDS = 6, 12

-- `k` and `a`: where its keys and its arguments begin.
local function create(now, k, a)
  local rowKey = KEYS[k]
  local gid, format, kind, status, digest, token, writeId, owned, sentList, dueInMs, definition, progress =
    unpack(ARGV, a, a + CREATE_WORDS - 1)
  local old = redis.call('GETRANGE', rowKey, 0, HEAD_BYTES_MAX - 1)
  if old ~= '' then
    local row = rowOf(old)
    if not row then return unreadable(rowKey) end
    -- Mine, sent again. The token belongs to it: once another owner has claimed the row, it is not mine any more.
    if row.token == token and row.writeId == writeId then return { 'created', row.createdAt, now } end
    return { 'exists', row.digest, row.status, now }
  end

  local createdAt = whole(now)
  local head = '1 ' .. format .. ' ' .. kind .. ' ' .. status .. ' 1 1 ' .. owned .. ' ' .. sentList .. ' 0 0 0 ' ..
    createdAt .. ' ' .. createdAt .. ' 0 ' .. token .. ' ' .. writeId .. ' ' .. digest .. '\n'
  redis.call('SET', rowKey, head .. progress)
  redis.call('SET', KEYS[k + 1], definition)
  redis.call('ZADD', KEYS[k + 2], whole(now + tonumber(dueInMs)), gid)
  -- An expired namesake that no purge has met yet may still stand in both.
  redis.call('ZADD', KEYS[k + 3], createdAt, gid)
  redis.call('ZREM', KEYS[k + 4], gid)
  redis.call('HINCRBY', KEYS[k + 5], status, 1)
  return { 'created', createdAt, now }
end
