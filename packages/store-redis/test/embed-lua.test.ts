import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { embedLua } from '../embed-lua.ts'

it('The generated module has the .lua files as they are, and node embed-lua.ts writes it', () => {
  const folder = join(import.meta.dirname, '..')
  expect(readFileSync(join(folder, 'src/generated/scripts.ts'), 'utf8')).toBe(embedLua(folder))
})
