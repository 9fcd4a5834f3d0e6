import { isGid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { nodeClock } from '../src/node-clock.ts'
import { nodeIds } from '../src/node-ids.ts'

const MANY = 20_000

describe('ids', () => {
  it('Tokens are 32 lower-case hex digits and never repeat, over many refills of the buffer', () => {
    const [one, two] = [nodeIds(), nodeIds()]
    const tokens = new Set<string>()
    for (let n = 0; n < MANY; n++) for (const ids of [one, two]) tokens.add(ids.token())
    expect(tokens.size).toBe(2 * MANY)
    for (const token of tokens) if (!/^[0-9a-f]{32}$/.test(token)) expect.fail(token)
  })

  it('Write ids are 1–32 characters that the contract allows and never repeat', () => {
    const [one, two] = [nodeIds(), nodeIds()]
    const writeIds = new Set<string>()
    for (let n = 0; n < MANY; n++) for (const ids of [one, two]) writeIds.add(ids.writeId())
    expect(writeIds.size).toBe(2 * MANY)
    for (const writeId of writeIds) if (!/^[A-Za-z0-9-]{1,32}$/.test(writeId)) expect.fail(writeId)
  })

  it('Gids are UUIDs of version 7, never repeat, and grow with time', () => {
    const ids = nodeIds()
    const gids = new Set<string>()
    const before = Date.now()
    let last = 0
    for (let n = 0; n < MANY; n++) {
      const gid = ids.gid()
      gids.add(gid)
      if (!isGid(gid) || !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(gid))
        expect.fail(gid)
      const at = Number.parseInt(gid.slice(0, 8) + gid.slice(9, 13), 16)
      if (at < last || at < before || at > Date.now()) expect.fail(`${gid} is of ${at}`)
      last = at
    }
    expect(gids.size).toBe(MANY)
  })

  it('Each random digit of a gid takes each of its values', () => {
    const ids = nodeIds()
    const seen = Array.from({ length: 36 }, () => new Set<string>())
    for (let n = 0; n < 4_000; n++) {
      for (const [place, digit] of [...ids.gid()].entries()) seen[place]?.add(digit)
    }
    for (const place of [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, n) => 24 + n)])
      expect(seen[place]?.size, `place ${place}`).toBe(16)
    expect([...(seen[19] ?? [])].sort()).toEqual(['8', '9', 'a', 'b'])
  })

  it('The jitter is in [0, 1)', () => {
    const ids = nodeIds()
    for (let n = 0; n < 1_000; n++) {
      const jitter = ids.jitter()
      if (!(jitter >= 0 && jitter < 1)) expect.fail(String(jitter))
    }
  })
})

describe('the clock of a process', () => {
  it('The clock of a process only goes forward', () => {
    const clock = nodeClock()
    let last = clock.now()
    for (let n = 0; n < 10_000; n++) {
      const now = clock.now()
      if (now < last) expect.fail(`${now} after ${last}`)
      last = now
    }
  })

  it('The clock calls back, also for a passed instant, but not after a cancel', async () => {
    const clock = nodeClock()
    const rung: string[] = []
    clock.after(0, () => rung.push('taken back'))()
    // The delay is longer than setTimeout supports, and must not fire at once.
    const cancel = clock.after(2 ** 40, () => rung.push('far'))
    await new Promise<void>((resolve) => {
      clock.after(-10, resolve)
    })
    cancel()
    expect(rung).toEqual([])
  })
})
