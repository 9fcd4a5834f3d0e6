local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Writes a number without an exponent, because Lua would write 9e15 for the instant of a parked row.
local function writeWhole(number)
  return string.format('%.0f', number)
end
