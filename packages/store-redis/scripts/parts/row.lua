-- A row is its head, which is one line of words, and then its progress. The first word is the number of the layout. A head
-- that does not match was written by a newer version, and this one must not change it. The words stay the texts that were
-- written. `endAt` is 0 while the row is live.
local HEAD_BYTES_MAX = 320
local HEAD = '^1 (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) ([01]) ([01]) (%d+) (%d+) (%d+) (%x+) ([%w-]+) (%x+)\n()'

local function readRow(text)
  local row = {}
  row.format, row.kind, row.status, row.version, row.epoch, row.owned, row.sentList, row.claims, row.retrying,
    row.attention, row.createdAt, row.updatedAt, row.endAt, row.token, row.writeId, row.digest, row.progressAt =
    string.match(text, HEAD)
  if not row.digest then return nil end
  return row
end

local function writeHead(row)
  return '1 ' .. row.format .. ' ' .. row.kind .. ' ' .. row.status .. ' ' .. row.version .. ' ' .. row.epoch .. ' ' ..
    row.owned .. ' ' .. row.sentList .. ' ' .. row.claims .. ' ' .. row.retrying .. ' ' .. row.attention .. ' ' ..
    row.createdAt .. ' ' .. row.updatedAt .. ' ' .. row.endAt .. ' ' .. row.token .. ' ' .. row.writeId .. ' ' ..
    row.digest .. '\n'
end

local function toUnreadableError(key)
  return redis.error_reply('ROWUNREADABLE the head of ' .. key .. ' cannot be read')
end
