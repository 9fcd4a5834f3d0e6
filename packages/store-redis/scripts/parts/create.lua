local CREATE_WORDS = 4
local CREATE_TERMS = '^c (%d+) (%d+) (%d+) ([01]) (%d+) (-?%d+)$'

-- What rows that are created alike have in common: all of the head that stands before the token.
local function createTerms(word, now)
  local format, kind, status, owned, sentList, dueInMs = match(word, CREATE_TERMS)
  local createdAt = whole(now)
  return {
    isCreate = true,
    status = status,
    createdAt = createdAt,
    dueAt = whole(now + tonumber(dueInMs)),
    head = '1 ' .. format .. ' ' .. kind .. ' ' .. status .. ' 1 1 ' .. owned .. ' ' .. sentList .. ' 0 0 0 ' ..
      createdAt .. ' ' .. createdAt .. ' 0 ',
    answer = 'created ' .. createdAt .. ' ' .. createdAt,
  }
end

-- `k` and `a`: where its keys and its words begin. The third word is the rest of the row: token, writeId, digest, progress.
local function create(terms, k, a)
  local rowKey, definitionKey = KEYS[k], KEYS[k + 1]
  local gid, rest, definition = ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local text = terms.head .. rest
  meet(gid)
  if call('MSETNX', rowKey, text, definitionKey, definition) == 0 then
    local old = call('GETRANGE', rowKey, '0', HEAD_END)
    if old ~= '' then
      local row = rowOf(old)
      if not row then return 'error ' .. unreadable(rowKey).err end
      local token, writeId = match(rest, '^(%x+) ([%w-]+) ')
      -- Mine, sent again. The token belongs to it: once another owner has claimed the row, it is not mine any more.
      if row.token == token and row.writeId == writeId then
        return 'created ' .. row.createdAt .. ' ' .. terms.createdAt
      end
      return 'exists ' .. row.digest .. ' ' .. row.status .. ' ' .. terms.createdAt
    end
    -- The definition of an expired namesake, which lives a little longer than its row.
    call('SET', rowKey, text)
    call('SET', definitionKey, definition)
  end
  put(changes.due, terms.dueAt, gid)
  -- An expired namesake that no purge has met yet may still stand in both.
  put(changes.created, terms.createdAt, gid)
  take(changes.undone, gid)
  countBy(terms.status, 1)
  return terms.answer
end
