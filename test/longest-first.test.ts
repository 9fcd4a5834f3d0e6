import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LONG_FILES } from './long-files.ts'
import { longestFirst } from './longest-first.ts'
import { REPOSITORY, readRepository } from './source-tree.ts'

const BANK = 'chaos/test/servers/bank-mysql.test.ts'
const RACES = 'packages/store-mysql/test/races.test.ts'

describe('the order of the test files', () => {
  it('starts the long ones first, and leaves the others as they are', () => {
    const [longer, shorter] =
      (LONG_FILES.get(BANK) ?? 0) > (LONG_FILES.get(RACES) ?? 0) ? [BANK, RACES] : [RACES, BANK]
    const files = ['b.test.ts', shorter, 'a.test.ts', longer].map((path) => ({
      moduleId: join(REPOSITORY, path),
    }))
    expect(longestFirst(files).map(({ moduleId }) => moduleId)).toEqual(
      [longer, shorter, 'b.test.ts', 'a.test.ts'].map((path) => join(REPOSITORY, path)),
    )
  })

  it('knows no file that is not there', () => {
    const tree = readRepository()
    expect([...LONG_FILES.keys()].filter((path) => !tree.has(path))).toEqual([])
    expect([...LONG_FILES.values()].filter((seconds) => seconds < 10)).toEqual([])
  })
})
