import { describe, expect, it } from 'vitest'
import { findStringEnd, isTooDeep } from './json-depth.ts'

describe('the depth of a text', () => {
  it.each<[string, string, number]>([
    ['a word', 'null', 0],
    ['an empty object', '{}', 1],
    ['lists beside each other', '[[],[],[]]', 2],
    ['lists in each other', '[[[]]]', 3],
    ['brackets in a string', '["[[[["]', 1],
    ['brackets behind an escaped quote', '["\\"[[", "\\\\", []]', 2],
    ['a string without its end', '["[[', 1],
    ['a string that ends with a backslash', '["\\', 1],
    ['more closing than opening brackets', ']]][[', 0],
  ])('It is known of %s', (_, text, depth) => {
    expect(isTooDeep(text, depth)).toBe(false)
    expect(isTooDeep(text, depth - 1)).toBe(depth > 0)
  })

  it('A text of 1 MiB of brackets is read', () => {
    expect(isTooDeep('['.repeat(1024 * 1024), 32)).toBe(true)
    expect(isTooDeep('[]'.repeat(512 * 1024), 1)).toBe(false)
  })
})

describe('the end of a string', () => {
  it.each<[string, string, number]>([
    ['an empty one', '""', 1],
    ['one with an escaped quote', '"a\\"b"', 5],
    ['one with an escaped backslash at its end', '"\\\\"', 3],
    ['one that does not end', '"abc', 4],
  ])('It is found for %s', (_, text, end) => {
    expect(findStringEnd(text, 0)).toBe(end)
  })
})
