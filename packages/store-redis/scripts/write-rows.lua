#!lua
-- @include time
-- @include row
-- @include create
-- @include update
-- Creates and updates, one after the other, each for itself: what fails of one is its own answer. Their words come one
-- behind the other, each behind `c` or `u`, and so do their keys.
local function textOf(problem)
  return type(problem) == 'table' and problem.err or tostring(problem)
end

local now = nowMs()
local answers = {}
local k, a = 1, 1
while a <= #ARGV do
  local isCreate = ARGV[a] == 'c'
  local done, answer = pcall(isCreate and create or update, now, k, a + 1)
  if done and answer.err then done, answer = false, answer.err end
  answers[#answers + 1] = done and answer or { 'error', textOf(answer) }
  k = k + (isCreate and CREATE_KEYS or UPDATE_KEYS)
  a = a + 1 + (isCreate and CREATE_WORDS or UPDATE_WORDS)
end
return answers
