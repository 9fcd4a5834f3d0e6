local CREATE_WORDS = 4
-- The words before the tags are token, writeId, digest, attempts, marks and name.
local TAGS_OF_REST = '^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ ([^ ]+) '
local CREATE_TERMS = '^c (%d+) (%d+) (%d+) ([01]) (%d+) (-?%d+)(.*)$'

-- Builds what rows that are created alike have in common, which is the part of the head before the token.
local function createTerms(word, now)
  local format, kind, status, owned, sentList, dueInMs, layout = match(word, CREATE_TERMS)
  local createdAt = writeWhole(now)
  return {
    isCreate = true,
    status = status,
    createdAt = createdAt,
    dueAt = writeWhole(now + tonumber(dueInMs)),
    isWaiting = owned == '0',
    isWide = layout ~= '',
    -- A row with a name or tags has the layout behind the other terms.
    head = (layout == '' and '1' or sub(layout, 2)) .. ' ' .. format .. ' ' .. kind .. ' ' .. status .. ' 1 1 ' .. owned .. ' ' .. sentList .. ' 0 0 0 ' ..
      createdAt .. ' ' .. createdAt .. ' 0 ',
    answer = 'created ' .. createdAt .. ' ' .. createdAt,
  }
end

-- The keys of the row begin at `k`, and its words at `a`. The third word is the rest of the row: token, writeId, digest,
-- perhaps the words of layout 2, and progress.
local function create(terms, k, a)
  local rowKey, definitionKey = KEYS[k], KEYS[k + 1]
  local gid, rest, definition = ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local text = terms.head .. rest
  meet(gid)
  if call('MSETNX', rowKey, text, definitionKey, definition) == 0 then
    local old = readHeadBytes(rowKey)
    if old ~= '' then
      local row = readRow(old)
      if not row then return 'error ' .. toUnreadableError(rowKey).err end
      local token, writeId = match(rest, '^(%x+) ([%w-]+) ')
      -- This call has created the row and is sent again. The token must be the same, too: if another owner has claimed the
      -- row since, it no longer belongs to the caller.
      if row.token == token and row.writeId == writeId then
        return 'created ' .. row.createdAt .. ' ' .. terms.createdAt
      end
      return 'exists ' .. row.digest .. ' ' .. row.status .. ' ' .. terms.createdAt
    end
    -- An expired row of the same gid has left its definition, which lives a little longer than the row.
    call('SET', rowKey, text)
    call('SET', definitionKey, definition)
  end
  put(changes.due, terms.dueAt, gid)
  -- An expired row of the same gid may still be in both indexes, if no purge has removed it yet.
  put(changes.created, terms.createdAt, gid)
  take(changes.undone, gid)
  countBy(terms.status, 1)
  -- A row that is owned is mostly finished by its next write, and is found among those that are due soon until then.
  if terms.isWaiting then put(changes.waiting, '0', toWaiting('', terms.createdAt, gid)) end
  if terms.isWide then
    local tags = match(rest, TAGS_OF_REST)
    if tags ~= NO_WORD then
      for _, member in ipairs(toTagMembers(tags, terms.createdAt, gid)) do put(changes.tags, '0', member) end
    end
  end
  return terms.answer
end
