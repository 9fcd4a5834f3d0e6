import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { BRANCH_CODES } from '../../src/index.ts'

it('docs/errors.md has one line for each code of a branch, with its status and its meaning, and no other', async () => {
  const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const [section = ''] = page.split(/^## /m).filter((text) => text.startsWith('What a branch answers'))
  const rows = [...section.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (\w+) +\| \S.* \| \S.* \|$/gm)]
  const shown = rows.map(([, code, statusCode, meaning]) => [
    code,
    { meaning, statusCode: Number(statusCode) },
  ])
  expect(Object.fromEntries(shown)).toEqual(BRANCH_CODES)
  expect(rows).toHaveLength(Object.keys(BRANCH_CODES).length)
  // Only the table's own head is no code: no row was overlooked for its form.
  expect(section.match(/^\|/gm)).toHaveLength(rows.length + 2)
})
