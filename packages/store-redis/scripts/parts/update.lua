local UPDATE_WORDS = 6
local UPDATE_TERMS = '^u (%d+) (%d+) ([01]) ([01]) (%d*) (%l+) (%S*)$'
-- This matches the words of the old head that the new one takes over, and those that the write is checked against. `()`
-- gives the place where the token begins.
local NUMBERS = '^1 %d+ (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) %d+ [01] ([01]) (%d+) %d+ (%d+) ()'

-- Returns token, writeId and digest, or nothing if there are not exactly three words. Finding the blanks takes a third of
-- the time that a pattern takes.
local function readWords(text, from)
  local afterToken = from and find(text, ' ', from, true)
  local afterWriteId = afterToken and find(text, ' ', afterToken + 1, true)
  local lineEnd = afterWriteId and find(text, '\n', afterWriteId, true)
  if not lineEnd then return nil end
  local digest = sub(text, afterWriteId + 1, lineEnd - 1)
  if find(digest, ' ', 1, true) then return nil end
  return sub(text, from, afterToken - 1), sub(text, afterToken + 1, afterWriteId - 1), digest
end

-- Builds what rows that are updated alike have in common.
local function updateTerms(word, now)
  local status, format, retrying, attention, sentList, hold, amount = match(word, UPDATE_TERMS)
  local terms = {
    status = status,
    attention = attention,
    sentList = sentList ~= '' and sentList,
    isFinish = hold == 'finish',
    isOver = hold == 'finish' or hold == 'release',
    isCommand = hold == 'command',
    now = now,
    updatedAt = writeWhole(now),
    format = '1 ' .. format .. ' ',
    flags = ' 0 ' .. retrying .. ' ' .. attention .. ' ',
    endAt = '0',
  }
  terms.answer = 'saved ' .. terms.updatedAt .. ' ' .. terms.updatedAt
  if terms.isFinish then
    -- The amount is a duration, or `=` and an instant if the row is never purged.
    terms.isKept = sub(amount, 1, 1) == '='
    terms.endAt = terms.isKept and sub(amount, 2) or writeWhole(now + tonumber(amount))
    -- The definition expires a little later than its row, so that no row is ever read without its definition.
    terms.definitionEndAt = writeWhole(tonumber(terms.endAt) + 1000)
  else
    terms.dueAt = amount == '' and terms.updatedAt or amount
  end
  return terms
end

local function countUpdated(terms, status, attention)
  local isFinish = terms.isFinish
  if isFinish or status ~= terms.status then countBy(status, -1) end
  if not isFinish and status ~= terms.status then countBy(terms.status, 1) end
  countBy('attention', (isFinish and '0' or terms.attention) - attention)
end

-- The keys of the row begin at `k`, and its words at `a`.
local function update(terms, k, a)
  local rowKey = KEYS[k]
  local gid, token, version, writeId = ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local old = call('GETRANGE', rowKey, '0', HEAD_END)
  if old == '' then return 'absent' end
  local kind, status, oldVersion, epoch, owned, sentList, attention, createdAt, endAt, from = match(old, NUMBERS)
  local oldToken, oldWriteId, digest = readWords(old, from)
  if not digest then return 'error ' .. toUnreadableError(rowKey).err end
  if oldToken ~= token then return 'fenced' end
  if oldWriteId == writeId then return 'saved ' .. oldVersion .. ' ' .. terms.updatedAt end
  -- A final row takes no write, not even under its own version.
  if oldVersion ~= version or endAt ~= '0' then return 'conflict ' .. oldVersion end

  local next = tonumber(version) + 1
  local isNow = next <= terms.now
  local newVersion = isNow and terms.updatedAt or writeWhole(next)
  local text = terms.format .. kind .. ' ' .. terms.status .. ' ' .. newVersion .. ' ' .. epoch .. ' ' ..
    (terms.isOver and '0' or owned) .. ' ' .. (terms.sentList or sentList) .. terms.flags .. createdAt .. ' ' ..
    terms.updatedAt .. ' ' .. terms.endAt .. ' ' .. token .. ' ' .. writeId .. ' ' .. digest .. '\n' .. ARGV[a + 5]

  meet(gid)
  if terms.isFinish and not terms.isKept then
    call('SET', rowKey, text, 'PXAT', terms.endAt)
    call('PEXPIREAT', KEYS[k + 1], terms.definitionEndAt)
  else
    call('SET', rowKey, text)
  end
  if terms.isFinish then
    take(changes.undue, gid)
    if not terms.isKept then put(changes.done, terms.endAt, gid) end
  elseif terms.isOver or (terms.isCommand and owned == '0') then
    put(changes.due, terms.dueAt, gid)
  end
  countUpdated(terms, status, attention)
  return isNow and terms.answer or 'saved ' .. newVersion .. ' ' .. terms.updatedAt
end
