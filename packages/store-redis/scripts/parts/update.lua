local UPDATE_KEYS, UPDATE_WORDS = 5, 12

-- `k` and `a`: where its keys and its arguments begin.
local function update(now, k, a)
  local rowKey, definitionKey, dueKey, doneKey, countsKey = unpack(KEYS, k, k + UPDATE_KEYS - 1)
  local gid, token, version, writeId, status, format, retrying, attention, sentList, hold, amount, progress =
    unpack(ARGV, a, a + UPDATE_WORDS - 1)
  local text = redis.call('GETRANGE', rowKey, 0, HEAD_BYTES_MAX - 1)
  if text == '' then return { 'absent' } end
  local row = rowOf(text)
  if not row then return unreadable(rowKey) end
  if row.token ~= token then return { 'fenced' } end
  if row.writeId == writeId then return { 'saved', row.version, now } end
  -- A final row takes no write, not even under its own version.
  if row.version ~= version or row.endAt ~= '0' then return { 'conflict', row.version } end

  local statusBefore, attentionBefore = row.status, row.attention
  local isFinish = hold == 'finish'
  local dueAt = nil
  if hold == 'release' then
    dueAt = amount
  elseif hold == 'command' and row.owned == '0' then
    dueAt = amount == '' and whole(now) or amount
  end
  if hold == 'release' or isFinish then row.owned = '0' end
  -- An amount that is no duration is `never`, written as the instant itself.
  if isFinish then row.endAt = string.sub(amount, 1, 1) == '=' and string.sub(amount, 2) or whole(now + tonumber(amount)) end
  row.version = whole(math.max(tonumber(row.version) + 1, now))
  row.writeId, row.status, row.format, row.retrying, row.attention = writeId, status, format, retrying, attention
  if sentList ~= '' then row.sentList = sentList end
  row.claims = '0'
  row.updatedAt = whole(now)

  redis.call('SET', rowKey, headOf(row) .. progress)
  if dueAt then redis.call('ZADD', dueKey, dueAt, gid) end
  if isFinish then
    redis.call('ZREM', dueKey, gid)
    if string.sub(amount, 1, 1) ~= '=' then
      redis.call('ZADD', doneKey, row.endAt, gid)
      redis.call('PEXPIREAT', rowKey, row.endAt)
      -- A little later, so that no row is ever seen without its definition.
      redis.call('PEXPIREAT', definitionKey, whole(tonumber(row.endAt) + 1000))
    end
    redis.call('HINCRBY', countsKey, statusBefore, -1)
    if attentionBefore == '1' then redis.call('HINCRBY', countsKey, 'attention', -1) end
  else
    if statusBefore ~= status then
      redis.call('HINCRBY', countsKey, statusBefore, -1)
      redis.call('HINCRBY', countsKey, status, 1)
    end
    if attentionBefore ~= attention then redis.call('HINCRBY', countsKey, 'attention', attention - attentionBefore) end
  end
  return { 'saved', row.version, now }
end
