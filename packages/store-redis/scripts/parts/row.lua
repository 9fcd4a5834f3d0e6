-- A row is its head, which is one line of words, and then its progress. The first word is the number of the layout. A head
-- that does not match was written by a newer version, and this one must not change it. The words stay the texts that were
-- written. `endAt` is 0 while the row is live.
-- Layout 2 has five more words: attempts, marks, name, tags and problem, with `%` for a text that is absent. It is written
-- only for a row that has one of them.
local HEAD_BYTES_MAX = 320
local WIDE_HEAD_BYTES_MAX = 6144
-- The byte of the digit 2.
local WIDE_LAYOUT = 50
local HEAD = '^([12]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) ([01]) ([01]) (%d+) (%d+) (%d+) (%x+) ([%w-]+) (%x+)([^\n]*)\n()'
local MORE_WORDS = '^ (%d+) (%d+) ([^ ]+) ([^ ]+) ([^ ]+)$'
local NO_WORD = '%'

local function readRow(text)
  local row = {}
  row.layout, row.format, row.kind, row.status, row.version, row.epoch, row.owned, row.sentList, row.claims, row.retrying,
    row.attention, row.createdAt, row.updatedAt, row.endAt, row.token, row.writeId, row.digest, row.more, row.progressAt =
    string.match(text, HEAD)
  if not row.more then return nil end
  if row.layout == '1' then
    if row.more ~= '' then return nil end
    row.attempts, row.marks, row.name, row.tags, row.problem = '0', '0', NO_WORD, NO_WORD, NO_WORD
  else
    row.attempts, row.marks, row.name, row.tags, row.problem = string.match(row.more, MORE_WORDS)
    if not row.problem then return nil end
  end
  return row
end

local function writeHead(row)
  return row.layout .. ' ' .. row.format .. ' ' .. row.kind .. ' ' .. row.status .. ' ' .. row.version .. ' ' ..
    row.epoch .. ' ' .. row.owned .. ' ' .. row.sentList .. ' ' .. row.claims .. ' ' .. row.retrying .. ' ' ..
    row.attention .. ' ' .. row.createdAt .. ' ' .. row.updatedAt .. ' ' .. row.endAt .. ' ' .. row.token .. ' ' ..
    row.writeId .. ' ' .. row.digest .. row.more .. '\n'
end

-- Returns whether the first bytes of a row may not be its whole head.
local function isCut(head)
  return string.byte(head) == WIDE_LAYOUT and not string.find(head, '\n', 1, true)
end

-- Returns the first bytes of a row, with all of its head. Of a long head no more is returned.
local function readHeadBytes(key)
  local head = redis.call('GETRANGE', key, 0, HEAD_BYTES_MAX - 1)
  if not isCut(head) then return head end
  return string.match(redis.call('GETRANGE', key, 0, WIDE_HEAD_BYTES_MAX - 1), '^[^\n]*\n?')
end

local function toUnreadableError(key)
  return redis.error_reply('ROWUNREADABLE the head of ' .. key .. ' cannot be read')
end
