#!lua flags=allow-oom
-- The answer has the outcome, and after it the version that the removal conflicts with, or the number of writes that the
-- category has had.
-- @include time
-- @include document
local categoryKey = KEYS[1]
local name, expectedVersion = unpack(ARGV)

local value = redis.call('HGET', categoryKey, name)
if not value then return { 'absent' } end
local document = readDocument(value)
if not document then return toUnreadableDocumentError(categoryKey) end
if document.version ~= expectedVersion then return { 'conflict', document.version } end
redis.call('HDEL', categoryKey, name)
return { 'removed', writeWhole(redis.call('HINCRBY', categoryKey, '', 1)) }
