-- A category is one hash. The field with the empty name counts the writes of the category, so that a loss of the last
-- writes is noticed. Every other field is a document: one line of words, and then its text. The first word is the number
-- of the layout. If it is not `1`, a newer version has written the document.
local DOCUMENT_HEAD = '^1 (%d+) (%d+) ([%w-]+)\n'

local function readDocument(value)
  local version, updatedAt, writeId = string.match(value, DOCUMENT_HEAD)
  if not version then return nil end
  return { version = version, updatedAt = updatedAt, writeId = writeId }
end

local function toUnreadableDocumentError(key)
  return redis.error_reply('ROWUNREADABLE a document of ' .. key .. ' cannot be read')
end

local function readSequence(key)
  return redis.call('HGET', key, '') or '0'
end
