#!lua flags=allow-oom
-- The answer has the outcome, and after it the version that the removal conflicts with, or the number of writes that the
-- category has had.
-- @include time
-- @include document
local categoryKey = KEYS[1]
local name, expectedVersion = unpack(ARGV)

local value = redis.call('HGET', categoryKey, name)
if not value then return { 'absent' } end
local document = documentOf(value)
if not document then return unreadableDocument(categoryKey) end
if document.version ~= expectedVersion then return { 'conflict', document.version } end
redis.call('HDEL', categoryKey, name)
return { 'removed', whole(redis.call('HINCRBY', categoryKey, '', 1)) }
