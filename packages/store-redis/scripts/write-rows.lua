#!lua
local call, match, find, sub, format = redis.call, string.match, string.find, string.sub, string.format
local KEYS, ARGV = KEYS, ARGV
-- @include time
-- @include row
-- This is a text, because Redis would convert a number to a text in each call.
local HEAD_END = tostring(HEAD_BYTES_MAX - 1)
-- @include indexes
-- @include tags
-- @include create
-- @include update
-- This runs creates and updates of one shard, one after the other. If one of them fails, its own line of the answer says
-- so, and the others go on. The arguments are the words of each, and the first word of each holds its terms. The keys are
-- those of the indexes, then the row and the definition of each. The answer has one line for each row.
local ROW_KEYS = 2
local now = nowMs()
local answers, known = {}, {}
local count, k, a = 0, INDEX_KEYS + 1, 1
local words = #ARGV

local function write()
  while a <= words do
    count = count + 1
    local word = ARGV[a]
    local terms = known[word]
    if not terms then
      terms = (sub(word, 1, 1) == 'c' and createTerms or updateTerms)(word, now)
      known[word] = terms
    end
    if terms.isCreate then
      answers[count] = create(terms, k, a)
      a = a + CREATE_WORDS
    else
      answers[count] = update(terms, k, a)
      a = a + UPDATE_WORDS
    end
    k = k + ROW_KEYS
  end
end

local function errorLine(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  return 'error ' .. string.gsub(text, '[\r\n]', ' ')
end

while a <= words do
  local isDone, problem = pcall(write)
  if not isDone then
    answers[count] = errorLine(problem)
    k = k + ROW_KEYS
    a = a + (sub(ARGV[a], 1, 1) == 'c' and CREATE_WORDS or UPDATE_WORDS)
  end
end
local isDone, problem = pcall(writeIndexes)
if not isDone then
  -- It is not known here of which rows the changes are missing, so that every row gets the error.
  for i = 1, count do answers[i] = errorLine(problem) end
end
return table.concat(answers, '\n')
