import type { Gid } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, makeUpdate } from './transactions.ts'

const GIDS: readonly string[] = [
  ...['{', '}', '{}', '}{', '{p1}', 'a{b}c', '*', '?', '[a-z]', ':', 'due', 'counts', 'mark:x'],
  // The HTTP APIs refuse these gids, but a store must not rely on that.
  ...[
    'a\nb',
    'a\r\nFLUSHALL\r\n',
    '$1\r\n{',
    ' ',
    "'",
    '"',
    '\\',
    ';',
    "' .. redis.call('FLUSHALL') .. '",
    ']]',
  ],
]
const NESTED = '['.repeat(100_000)
const TEXTS = [NESTED, '{"a":'.repeat(50_000), "'); redis.call('FLUSHALL') --", '\0\n1 2 3', '%d %s']

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'hostile gids and texts', (url) => {
    const { open } = openedForTests()

    it('S24: Each gid is its own row, whatever characters it has, and nothing else is touched', async () => {
      const { store } = await open(url)
      await created(store, aTransaction('bystander', { definition: 'untouched' }))
      for (const gid of GIDS)
        await created(store, aTransaction(gid, { definition: `of ${gid}`, progress: gid }))
      const rows = await store.readMany([...GIDS, 'bystander'] as Gid[])
      expect(new Map(rows.map(({ gid, definition }) => [gid, definition]))).toEqual(
        new Map([...GIDS.map((gid) => [gid, `of ${gid}`] as const), ['bystander', 'untouched']]),
      )
      expect((await store.stats()).unfinished.submitted).toBe(GIDS.length + 1)
    })

    it('S24: Texts are bytes to the scripts, however deep or Lua-like they are', async () => {
      const { store } = await open(url)
      for (const [index, text] of TEXTS.entries()) {
        const row = await created(store, aTransaction(`t-${index}`, { definition: text, progress: text }))
        expect(await store.update({ ...makeUpdate(row), progress: `${text}!` })).toMatchObject({
          type: 'saved',
        })
        const [read] = await store.readMany([row.gid])
        expect([read?.definition, read?.progress]).toEqual([text, `${text}!`])
      }
    })
  })
}
