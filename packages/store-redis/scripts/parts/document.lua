-- A category is one hash: the field of an empty name counts its writes, for the watch over lost tails, and each other
-- field is a document: one line of words and then its text. `1` is the layout: another is a newer store's.
local DOCUMENT_HEAD = '^1 (%d+) (%d+) ([%w-]+)\n'

local function documentOf(value)
  local version, updatedAt, writeId = string.match(value, DOCUMENT_HEAD)
  if not version then return nil end
  return { version = version, updatedAt = updatedAt, writeId = writeId }
end

local function unreadableDocument(key)
  return redis.error_reply('ROWUNREADABLE a document of ' .. key .. ' cannot be read')
end

local function sequenceOf(key)
  return redis.call('HGET', key, '') or '0'
end
