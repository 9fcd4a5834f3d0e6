import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('S20: What remembers URLs keeps no request of which such a URL was a part', () => {
  const program = fileURLToPath(new URL('support/kept-by-urls.ts', import.meta.url))
  const printed = execFileSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8', env: {} })
  // A hundred requests have 50 MiB.
  expect(Number(printed)).toBeLessThan(30)
})
