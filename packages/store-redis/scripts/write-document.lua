#!lua
-- The answer has the outcome, the version, and the number of writes that the category has had.
-- @include time
-- @include document
local categoryKey = KEYS[1]
local name, expectedVersion, writeId, documentsMax, text = unpack(ARGV)

local present = '0'
local value = redis.call('HGET', categoryKey, name)
if value then
  local document = readDocument(value)
  if not document then return toUnreadableDocumentError(categoryKey) end
  present = document.version
  -- This call has written the document and is sent again.
  if document.writeId == writeId then return { 'written', present, readSequence(categoryKey) } end
end
if present ~= expectedVersion then return { 'conflict', present } end
-- One field is not a document: it counts the writes.
if not value and redis.call('HLEN', categoryKey) > tonumber(documentsMax) then return { 'full' } end

local version = writeWhole(tonumber(present) + 1)
local head = table.concat({ '1', version, writeWhole(nowMs()), writeId }, ' ')
redis.call('HSET', categoryKey, name, head .. '\n' .. text)
return { 'written', version, writeWhole(redis.call('HINCRBY', categoryKey, '', 1)) }
