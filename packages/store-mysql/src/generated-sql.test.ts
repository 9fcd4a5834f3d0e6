import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embedSql } from '@counterstep/store-sql/embed'
import { expect, it } from 'vitest'

it('The generated module has the .sql files as they are, and node embed-sql.ts writes it', () => {
  const folder = join(import.meta.dirname, '..')
  expect(readFileSync(join(folder, 'src/generated/sql.ts'), 'utf8')).toBe(embedSql(folder))
})
