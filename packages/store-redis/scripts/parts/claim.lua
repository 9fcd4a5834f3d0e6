-- Makes the claimer the owner of the row. The `sentList` 2 (released) becomes 1 (held), and every other one becomes
-- 0 (unknown).
local function takeRow(row, token, now)
  row.token = token
  row.owned = '1'
  row.version = writeWhole(math.max(tonumber(row.version) + 1, now))
  row.epoch = writeWhole(tonumber(row.epoch) + 1)
  row.claims = writeWhole(tonumber(row.claims) + 1)
  row.sentList = row.sentList == '2' and '1' or '0'
end
