import { describe, expect, it } from 'vitest'
import { readShards } from './read-shards.ts'
import type { ShardCalls } from './shard-calls.ts'
import { ShardKeys } from './shards.ts'

interface Found {
  readonly isCluster?: boolean
  readonly count?: string
  /** This many shards beside the first have counts. */
  readonly others?: number
  /** Another process writes this between our read and our write. */
  readonly meanwhile?: string
}

function setUp({ isCluster = false, count, others = 0, meanwhile }: Found) {
  const written: unknown[] = []
  const answers: Record<string, (args: readonly unknown[]) => unknown> = {
    get: () => count ?? null,
    exists: () => others,
    set: (args) => {
      written.push(args)
      return meanwhile ?? null
    },
  }
  const calls = {
    servers: { isCluster },
    keys: (shard: number) => new ShardKeys('counterstep', shard),
    command: async (_shard: number, name: string, args: readonly unknown[]) => answers[name]?.(args),
  } as unknown as ShardCalls
  return { calls, written }
}

describe('the number of shards', () => {
  it.each<[string, Found, number, string | undefined]>([
    ['a new server', {}, 1, '1'],
    ['a new cluster', { isCluster: true }, 64, '64'],
    ['a server with rows of before the count', { others: 3 }, 64, '64'],
    ['a server', { count: '1' }, 1, undefined],
    ['a cluster', { isCluster: true, count: '64' }, 64, undefined],
    ['a cluster with the data of a server', { isCluster: true, count: '1' }, 1, undefined],
    ['a server with the data of a cluster', { count: '64', others: 63 }, 64, undefined],
    ['a new server that another process has opened meanwhile', { meanwhile: '1' }, 1, '1'],
    ['a server whose older rows another process has seen before', { meanwhile: '64' }, 64, '1'],
  ])('The number of shards is read or chosen for %s', async (_name, found, count, wrote) => {
    const { calls, written } = setUp(found)
    expect((await readShards(calls)).count).toBe(count)
    const expected = wrote === undefined ? [] : [['counterstep:{p0}:shards', wrote, 'NX', 'GET']]
    expect(written).toEqual(expected)
  })

  it.each<[string, Found, string]>([
    ['it is one and rows are in other shards', { count: '1', others: 1 }, 'rows are in other shards'],
    [
      'rows are in other shards and another process has written one',
      { others: 1, meanwhile: '1' },
      'rows are in other shards',
    ],
    ['it is another number', { count: '128' }, '128'],
    ['it is not a number', { isCluster: true, count: 'x' }, 'x'],
  ])('The number of shards is refused where %s', async (_name, found, words) => {
    await expect(readShards(setUp(found).calls)).rejects.toMatchObject({
      code: 'SAGA_STORE_UNSUPPORTED',
      message: expect.stringContaining(words),
    })
  })
})
