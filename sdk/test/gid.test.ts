import { expect, it } from 'vitest'
import { newGid } from '../src/gid.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('Gids of version 7 are all different and tell the time, over many draws of random bytes', () => {
  const before = Date.now()
  const gids = Array.from({ length: 2_000 }, () => newGid())
  const after = Date.now()
  expect(new Set(gids).size).toBe(gids.length)
  // They differ behind their instants, too: random bytes that are used twice would repeat these.
  expect(new Set(gids.map((gid) => gid.slice(15))).size).toBe(gids.length)
  for (const gid of gids) {
    expect(gid).toMatch(VERSION_7)
    const at = Number.parseInt(gid.replace('-', '').slice(0, 12), 16)
    expect(at).toBeGreaterThanOrEqual(before)
    expect(at).toBeLessThanOrEqual(after)
  }
})
