import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { embedLua } from '../embed-lua.ts'

it('the generated module holds the .lua files as they are; node embed-lua.ts writes it', () => {
  const folder = join(import.meta.dirname, '..')
  expect(readFileSync(join(folder, 'src/generated/scripts.ts'), 'utf8')).toBe(embedLua(folder))
})
