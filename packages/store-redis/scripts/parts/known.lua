-- A row whose codes nobody knows is left alone: it would spoil the claim of its neighbours.
local function isKnown(row, formatMax)
  return tonumber(row.format) <= tonumber(formatMax) and string.find(row.kind, '^[012]$')
    and string.find(row.status, '^[012]$') and string.find(row.sentList, '^[012]$')
end
