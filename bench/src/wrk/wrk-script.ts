import { CURVE_SHARES } from '../load/latency.ts'
import type { LoadJob, TimedLength } from '../load/load-job.ts'

/**
 * Writes the script that wrk runs. The script counts the answers of the measured part itself, by the same rule as our
 * own load, and sends nothing after it, so that the last answers come before wrk ends and each one can be held against
 * the store.
 */
export function wrkScript(
  { headers, body, unique }: Pick<LoadJob, 'headers' | 'body' | 'unique'>,
  { warmUpSeconds, seconds }: TimedLength,
  run: string,
): string {
  return `local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } counterstep_time;
int clock_gettime(int clock, counterstep_time *time);
]]
local MONOTONIC = 1
local NEVER_MS = 3600000
local time = ffi.new("counterstep_time")
local body = ${luaText(body)}
local unique = ${unique === undefined ? 'nil' : luaText(unique)}
local startedAt, request_count, thread_of_all = nil, 0, nil
measured = 0

wrk.method = "POST"
wrk.body = body
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${luaText(name)}] = ${luaText(value)}`)
  .join('\n')}

local function now()
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local function replaced(id)
  local parts, from = {}, 1
  while true do
    local first, last = string.find(body, unique, from, true)
    if first == nil then break end
    parts[#parts + 1] = string.sub(body, from, first - 1)
    parts[#parts + 1] = id
    from = last + 1
  end
  parts[#parts + 1] = string.sub(body, from)
  return table.concat(parts)
end

function setup(thread)
  thread_of_all = thread
end

local same
function init()
  same = wrk.format()
end

function request()
  if unique == nil then return same end
  -- wrk looks at one request, which it does not send. That one gets the number 0.
  local number = request_count
  request_count = request_count + 1
  return wrk.format(nil, nil, nil, replaced(unique .. ${luaText(`-${run}-`)} .. number))
end

-- Called after each answer.
function delay()
  local at = now()
  if startedAt == nil then startedAt = at end
  local past = at - startedAt
  if past >= ${warmUpSeconds} and past < ${warmUpSeconds + seconds} then measured = measured + 1 end
  if past >= ${warmUpSeconds + seconds} then return NEVER_MS end
  return 0
end

function done(summary, latency)
  local errors = summary.errors
  local points = {}
  for _, share in ipairs({ ${CURVE_SHARES.join(', ')} }) do
    local us = latency.max
    if share < 1 then us = latency:percentile(share * 100) end
    points[#points + 1] = string.format("[%s,%d]", share, us)
  end
  io.write(string.format('{"answers":%d,"measured":%d,"faults":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},"latency":[%s]}\\n',
    summary.requests, thread_of_all:get("measured"), errors.connect, errors.read, errors.write, errors.status, errors.timeout,
    table.concat(points, ",")))
end
`
}

/** Bytes by number, but for letters and digits: no character of a body can end the text. */
function luaText(text: string): string {
  const bytes = [...Buffer.from(text, 'utf8')]
  return `"${bytes.map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`)).join('')}"`
}

function isPlain(byte: number): boolean {
  return /[A-Za-z0-9 /:{},.-]/.test(String.fromCharCode(byte))
}
