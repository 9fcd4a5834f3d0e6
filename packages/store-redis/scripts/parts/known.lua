-- A row with codes that this version does not know is left out, because the claim of all rows would fail with it.
local function isKnown(row, formatMax)
  return tonumber(row.format) <= tonumber(formatMax) and string.find(row.kind, '^[012345]$')
    and string.find(row.status, '^[012]$') and string.find(row.sentList, '^[012]$')
end
