-- The index tags is in the order of its members, each with a tag, an accept and a gid. It has a member for each tag of a row. When
-- a row may be purged, Redis has let it expire, so nothing is left to read its tags from. That is why the index tagged has a
-- member for each finished row with tags, with its accept, its gid and its tags, by the instant at which the row expires.
-- The tags of a head are one word, with this text in the place of each line feed: before, between and after the tags.
local LINE_FEED = '%0A'

-- The accept has as many digits in every member, so that the order of the members is that of the accepts.
local function toTagMembers(tags, createdAt, gid)
  local members = {}
  local place = ' ' .. string.format('%016.0f', createdAt) .. ' ' .. gid
  local from = #LINE_FEED + 1
  while true do
    local to = string.find(tags, LINE_FEED, from, true)
    if not to then return members end
    members[#members + 1] = string.sub(tags, from, to - 1) .. place
    from = to + #LINE_FEED
  end
end

local function toTagged(tags, createdAt, gid)
  return createdAt .. ' ' .. gid .. ' ' .. tags
end

local function readTagged(member)
  return string.match(member, '^(%d+) ([^ ]+) ([^ ]+)$')
end
