#!lua
local call, match, find, sub = redis.call, string.match, string.find, string.sub
local KEYS, ARGV = KEYS, ARGV
-- @include time
-- @include row
-- A text, since Redis writes each number out anew.
local HEAD_END = tostring(HEAD_BYTES_MAX - 1)
-- @include create
-- @include update
-- Creates and updates, one after the other, each for itself: what fails of one is its own answer. Their words come one
-- behind the other, the first of each its terms, and so do their keys. Answers one line a row.
local now = nowMs()
local answers, known = {}, {}
local count, k, a = 0, 1, 1
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
      k, a = k + CREATE_KEYS, a + CREATE_WORDS
    else
      answers[count] = update(terms, k, a)
      k, a = k + UPDATE_KEYS, a + UPDATE_WORDS
    end
  end
end

while a <= words do
  local isDone, problem = pcall(write)
  if not isDone then
    local text = type(problem) == 'table' and problem.err or tostring(problem)
    answers[count] = 'error ' .. string.gsub(text, '[\r\n]', ' ')
    local isCreate = sub(ARGV[a], 1, 1) == 'c'
    k = k + (isCreate and CREATE_KEYS or UPDATE_KEYS)
    a = a + (isCreate and CREATE_WORDS or UPDATE_WORDS)
  end
end
return table.concat(answers, '\n')
