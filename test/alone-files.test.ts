import { expect, it } from 'vitest'
import { ALONE_FILES } from './alone-files.ts'
import { readRepository } from './source-tree.ts'

/** Of the tests that share their processes; those of the repository itself do not. */
const SHARING = /^(bench|chaos|conformance|examples|functions|packages|sdk|test\/[^/]+)\/.*\.test\.ts$/
const CHANGES =
  /\bvi\.(useFakeTimers|setSystemTime|stubGlobal|stubEnv)\(|^\s*(delete )?process\.env\.\w+( = |$)|defineProperty\(globalThis/m

const tree = readRepository()

it('files that change what others would see are alone', () => {
  const changing = [...tree].filter(([path, text]) => SHARING.test(path) && CHANGES.test(text))
  expect(changing.length).toBeGreaterThan(0)
  expect(changing.map(([path]) => path).filter((path) => !ALONE_FILES.includes(path))).toEqual([])
})

it('knows no file that is not there', () => {
  expect(ALONE_FILES.filter((path) => !tree.has(path))).toEqual([])
})
