import { expect, it } from 'vitest'
import { readRepository } from '../repository/source-tree.ts'
import { ALONE_FILES } from './alone-files.ts'
import { QUIET_FILES } from './quiet-files.ts'

/** These tests share their processes; those of the repository itself do not. */
const SHARING = /^(bench|examples|functions|packages|sdk|testing\/(?!repository\/|run\/)[^/]+)\/.*\.test\.ts$/
const CHANGES = new RegExp(
  [
    /\bvi\.(useFakeTimers|setSystemTime|stubGlobal|stubEnv|mock|doMock)\(/,
    /\bprocess\.env(\.\w+|\[[^\]]+\])\s*(\?\?|\|\|)?=(?!=)/,
    /\bdelete process\.env\b/,
    /\bObject\.(assign|defineProperty)\((process\.env|globalThis|Date)\b/,
    /\bglobalThis\.\w+\s*=(?!=)/,
    /\b(Date|performance)\.now\s*=(?!=)/,
    /\bsetGlobalDispatcher\(/,
    /\bqueryObjects\(/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

const tree = readRepository()

it('Files that change what others would see run alone', () => {
  const changing = [...tree].filter(([path, text]) => SHARING.test(path) && CHANGES.test(text))
  expect(changing.length).toBeGreaterThan(0)
  expect(changing.map(([path]) => path).filter((path) => !ALONE_FILES.includes(path))).toEqual([])
})

it.each([
  'vi.useFakeTimers()',
  "process.env['TZ'] = 'UTC'",
  "if (a) process.env.TZ = 'UTC'",
  "process.env.A ??= 'x'",
  'delete process.env[name]',
  "Object.assign(process.env, { A: 'x' })",
  'globalThis.fetch = refuse',
  'Date.now = () => 0',
  'queryObjects(Queue)',
])('A change of what other tests would see is found: %s', (line) => expect(line).toMatch(CHANGES))

it.each(["if (process.env.CI === 'true') skip()", 'const { fetch } = globalThis', 'globalThis.name == a'])(
  'A line that only reads what other tests would see is no change: %s',
  (line) => expect(line).not.toMatch(CHANGES),
)

it('The lists of test files name no file that is not there', () => {
  expect([...ALONE_FILES, ...QUIET_FILES].filter((path) => !tree.has(path))).toEqual([])
})
