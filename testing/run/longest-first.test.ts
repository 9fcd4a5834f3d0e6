import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REPOSITORY, readRepository } from '../repository/source-tree.ts'
import { LONG_FILES } from './long-files.ts'
import { longestFirst } from './longest-first.ts'

describe('the order of the test files', () => {
  it('The long test files start first, and the others stay as they are', () => {
    const [first, second] = LONG_FILES
    const files = ['b.test.ts', second, 'a.test.ts', first].map((path) => ({
      moduleId: join(REPOSITORY, String(path)),
    }))
    expect(longestFirst(files).map(({ moduleId }) => moduleId)).toEqual(
      [first, second, 'b.test.ts', 'a.test.ts'].map((path) => join(REPOSITORY, String(path))),
    )
  })

  it('The list of long test files has each file once, and none that is not there', () => {
    const tree = readRepository()
    expect(LONG_FILES.filter((path) => !tree.has(path))).toEqual([])
    expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length)
  })
})
