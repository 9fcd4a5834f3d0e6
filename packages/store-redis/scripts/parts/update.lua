local UPDATE_WORDS = 6
-- The last word is empty, or what the row waits for: attempts, marks and problem.
local UPDATE_TERMS = '^u (%d+) (%d+) ([01]) ([01]) (%d*) (%l+) ([^ ]*)(.*)$'
local TROUBLE = '^ (%d+) (%d+) ([^ ]+)$'
-- This matches the words of an old head of layout 1 that the new one takes over, and those that the write is checked
-- against. `()` gives the place where the token begins.
local NUMBERS = '^1 %d+ (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) %d+ [01] ([01]) (%d+) %d+ (%d+) ()'
local PAUSED, BY_HAND = 1, 2

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

local function hasMark(marks, mark)
  return math.floor(marks / mark) % 2
end

-- Builds what rows that are updated alike have in common.
local function updateTerms(word, now)
  local status, recordFormat, retrying, attention, sentList, hold, amount, trouble = match(word, UPDATE_TERMS)
  local attempts, marks, problem = match(trouble, TROUBLE)
  local terms = {
    status = status,
    attention = attention,
    sentList = sentList ~= '' and sentList,
    isFinish = hold == 'finish',
    isOver = hold == 'finish' or hold == 'release',
    isCommand = hold == 'command',
    now = now,
    updatedAt = writeWhole(now),
    format = ' ' .. recordFormat .. ' ',
    flags = ' 0 ' .. retrying .. ' ' .. attention .. ' ',
    endAt = '0',
    isTroubled = problem ~= nil,
    attempts = attempts or '0',
    marks = marks or '0',
    problem = problem or NO_WORD,
  }
  terms.isPaused = hasMark(terms.marks, PAUSED) == 1
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

-- Counts the marks and the problem of a row of layout 2, or of one that becomes such a row. A final row has left the counts.
local function countTrouble(terms, old, gid)
  local marks = terms.isFinish and '0' or terms.marks
  countBy('paused', hasMark(marks, PAUSED) - hasMark(old.marks, PAUSED))
  countBy('by-hand', hasMark(marks, BY_HAND) - hasMark(old.marks, BY_HAND))
  local problem = terms.isFinish and NO_WORD or terms.problem
  if old.problem ~= NO_WORD then
    countProblem(old.problem, old.attention, -1)
    if old.problem ~= problem then take(changes.rested, toWaiting(old.problem, old.createdAt, gid)) end
  end
  if problem ~= NO_WORD then
    countProblem(problem, terms.attention, 1)
    if old.problem ~= problem then put(changes.waiting, '0', toWaiting(problem, old.createdAt, gid)) end
  end
end

-- Reads what an update takes over or checks from a head of either layout, in the order of NUMBERS, then the token, the
-- writeId, the digest, and the row if its layout is 2.
local function readOld(rowKey, old)
  if string.byte(old) == WIDE_LAYOUT then
    local row = readRow(readHeadBytes(rowKey))
    if not row then return nil end
    return row.kind, row.status, row.version, row.epoch, row.owned, row.sentList, row.attention, row.createdAt, row.endAt,
      row.token, row.writeId, row.digest, row
  end
  local kind, status, version, epoch, owned, sentList, attention, createdAt, endAt, from = match(old, NUMBERS)
  local token, writeId, digest = readWords(old, from)
  if not digest then return nil end
  return kind, status, version, epoch, owned, sentList, attention, createdAt, endAt, token, writeId, digest
end

-- Returns the layout of the new head and the words that it has at its end.
local function toLayout(terms, wide)
  local name, tags = wide and wide.name or NO_WORD, wide and wide.tags or NO_WORD
  if not terms.isTroubled and name == NO_WORD and tags == NO_WORD then return '1', '' end
  return '2', ' ' .. terms.attempts .. ' ' .. terms.marks .. ' ' .. name .. ' ' .. tags .. ' ' .. terms.problem
end

-- The keys of the row begin at `k`, and its words at `a`.
local function update(terms, k, a)
  local rowKey = KEYS[k]
  local gid, token, version, writeId = ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local old = call('GETRANGE', rowKey, '0', HEAD_END)
  if old == '' then return 'absent' end
  local kind, status, oldVersion, epoch, owned, sentList, attention, createdAt, endAt, oldToken, oldWriteId, digest, wide =
    readOld(rowKey, old)
  if not digest then return 'error ' .. toUnreadableError(rowKey).err end
  if oldToken ~= token then return 'fenced' end
  if oldWriteId == writeId then return 'saved ' .. oldVersion .. ' ' .. terms.updatedAt end
  -- A final row takes no write, not even under its own version.
  if oldVersion ~= version or endAt ~= '0' then return 'conflict ' .. oldVersion end

  local next = tonumber(version) + 1
  local isNow = next <= terms.now
  local newVersion = isNow and terms.updatedAt or writeWhole(next)
  local layout, more = '1', ''
  if wide or terms.isTroubled then layout, more = toLayout(terms, wide) end
  local text = layout .. terms.format .. kind .. ' ' .. terms.status .. ' ' .. newVersion .. ' ' .. epoch .. ' ' ..
    (terms.isOver and '0' or owned) .. ' ' .. (terms.sentList or sentList) .. terms.flags .. createdAt .. ' ' ..
    terms.updatedAt .. ' ' .. terms.endAt .. ' ' .. token .. ' ' .. writeId .. ' ' .. digest .. more .. '\n' .. ARGV[a + 5]

  meet(gid)
  if terms.isFinish and not terms.isKept then
    call('SET', rowKey, text, 'PXAT', terms.endAt)
    call('PEXPIREAT', KEYS[k + 1], terms.definitionEndAt)
  else
    call('SET', rowKey, text)
  end
  if terms.isFinish then
    take(changes.undue, gid)
    if not terms.isKept then
      put(changes.done, terms.endAt, gid)
      if wide and wide.tags ~= NO_WORD then put(changes.tagged, terms.endAt, toTagged(wide.tags, createdAt, gid)) end
    end
  elseif terms.isOver or (terms.isCommand and owned == '0') then
    put(changes.due, terms.dueAt, gid)
  end
  countUpdated(terms, status, attention)
  if wide or terms.isTroubled then
    local was = wide or { marks = '0', problem = NO_WORD }
    was.attention, was.createdAt = attention, createdAt
    countTrouble(terms, was, gid)
  end
  if not terms.isFinish and not terms.isPaused then
    put(changes.waiting, '0', toWaiting('', createdAt, gid))
  elseif version ~= '1' or owned == '0' then
    -- No other row can be in that index.
    take(changes.rested, toWaiting('', createdAt, gid))
  end
  return isNow and terms.answer or 'saved ' .. newVersion .. ' ' .. terms.updatedAt
end
