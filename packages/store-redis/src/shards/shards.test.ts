import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { crc16 } from './crc16.ts'
import { MANY_SHARDS, ONE_SHARD, ShardKeys, toSlot } from './shards.ts'

describe('the hash', () => {
  // The values come from the reference of Redis cluster and its CLUSTER KEYSLOT.
  it('The hash of a gid is CRC-16/XMODEM', () => {
    expect(crc16('123456789')).toBe(0x31c3)
    expect(crc16('')).toBe(0)
  })

  it('A gid is in the same shard for ever', () => {
    const shards = { 'order-1': 2, 'order-2': 33, a: 7, '{p1}': 60, '~': 25 }
    const found = Object.fromEntries(Object.keys(shards).map((gid) => [gid, MANY_SHARDS.toShard(gid)]))
    expect(found).toEqual(shards)
    expect(Object.keys(shards).map((gid) => ONE_SHARD.toShard(gid))).toEqual([0, 0, 0, 0, 0])
    expect([ONE_SHARD.all, MANY_SHARDS.all.length]).toEqual([[0], 64])
  })

  it('Each shard gets about its share of random and of numbered gids', () => {
    for (const makeGid of [() => randomUUID(), (i: number) => `order-${i}`]) {
      const counts = new Array<number>(MANY_SHARDS.count).fill(0)
      for (let i = 0; i < 64_000; i++) {
        const shard = MANY_SHARDS.toShard(makeGid(i))
        counts[shard] = (counts[shard] ?? 0) + 1
      }
      expect(Math.min(...counts)).toBeGreaterThan(800)
      expect(Math.max(...counts)).toBeLessThan(1_200)
    }
  })

  it('The slots of the tags are those of Redis', () => {
    expect([0, 1, 2, 63].map(toSlot)).toEqual([15_882, 11_819, 7_752, 12_555])
  })

  it('The tags are spread over three nodes', () => {
    const nodes = [0, 0, 0]
    for (const shard of MANY_SHARDS.all) {
      const node = Math.floor(toSlot(shard) / 5_462)
      nodes[node] = (nodes[node] ?? 0) + 1
    }
    expect(Math.min(...nodes)).toBeGreaterThanOrEqual(16)
  })
})

describe('the keys', () => {
  it('A key has the tag before the gid, whatever the gid', () => {
    const keys = new ShardKeys('counterstep', 12)
    const gid = '}{p13}{'
    expect([keys.row(gid), keys.definition(gid), keys.due, keys.created, keys.done, keys.counts]).toEqual([
      'counterstep:{p12}:t:}{p13}{',
      'counterstep:{p12}:d:}{p13}{',
      'counterstep:{p12}:due',
      'counterstep:{p12}:created',
      'counterstep:{p12}:done',
      'counterstep:{p12}:counts',
    ])
  })
})
