import { readFile } from 'node:fs/promises'
import { STORE_EVENT_NAMES } from '@counterstep/core'
import { ENGINE_EVENT_NAMES } from '@counterstep/engine'
import { expect, it } from 'vitest'

it('The guide docs/guides/operate.md explains each event of the log, and no other', async () => {
  const page = await readFile(new URL('../../../docs/guides/operate.md', import.meta.url), 'utf8')
  const table = page.slice(page.indexOf('| `event` |'))
  const explained = [...table.matchAll(/^\| (`[\w-]+`(?:, `[\w-]+`)*) \| \S/gm)].flatMap(([, names = '']) =>
    names.split(', ').map((name) => name.slice(1, -1)),
  )
  expect(explained.filter((name) => name !== 'event').sort()).toEqual(
    [...ENGINE_EVENT_NAMES, ...STORE_EVENT_NAMES].sort(),
  )
})
