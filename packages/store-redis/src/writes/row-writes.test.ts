import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import { expect, it } from 'vitest'
import type { ScriptCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { ShardKeys } from '../shards/shards.ts'
import { RowWrites } from './row-writes.ts'

const BOUNDS = { commandsInFlightMax: 100, bytesInFlightMax: 10_000_000 }

interface Sent {
  readonly shard: number
  readonly rows: number
  readonly answer: (...lines: readonly string[]) => void
  readonly fail: (error: Error) => void
}

function setUp(bounds = BOUNDS) {
  const sent: Sent[] = []
  const calls = {
    keys: (shard: number) => new ShardKeys('counterstep', shard),
    script: (shard: number, _name: string, { args }: ScriptCall) =>
      new Promise((resolve, reject) => {
        const answer = (...lines: readonly string[]) => resolve(lines.join('\n'))
        sent.push({ shard, rows: args.length, answer, fail: reject })
      }),
  } as unknown as ShardCalls
  const rows = new RowWrites(calls, bounds)
  const write = (shard: number, row: ScriptCall) => rows.write(shard, row, (line) => line)
  return { sent, writes: { write } }
}

const row = (text = ''): ScriptCall => ({ keys: ['k'], args: [text] })
const turn = () => new Promise((resolve) => setImmediate(resolve))

it('One script has all writes of one turn of the event loop', async () => {
  const { sent, writes } = setUp()
  const answers = Promise.all([1, 2, 3].map(() => writes.write(0, row())))
  await turn()
  expect(sent.map(({ rows }) => rows)).toEqual([3])
  sent[0]?.answer('saved 1 2', 'fenced', 'absent')
  expect(await answers).toEqual(['saved 1 2', 'fenced', 'absent'])
})

it('Each shard has a script of its own', async () => {
  const { sent, writes } = setUp()
  for (const shard of [1, 2, 1]) void writes.write(shard, row())
  await turn()
  expect(sent.map(({ shard, rows }) => [shard, rows])).toEqual([
    [1, 2],
    [2, 1],
  ])
})

it('Writes that come while one script is on its way wait for the next one', async () => {
  const { sent, writes } = setUp()
  for (let i = 0; i < 4; i++) {
    void writes.write(0, row())
    await turn()
    await turn()
  }
  expect(sent.map(({ rows }) => rows)).toEqual([1])
  sent[0]?.answer('saved 1 2')
  await turn()
  await turn()
  expect(sent.map(({ rows }) => rows)).toEqual([1, 3])
})

it('A second script is on its way behind the first when many writes wait, and never a third', async () => {
  const { sent, writes } = setUp()
  for (const rows of [1, 31, 1, 64]) {
    for (let i = 0; i < rows; i++) void writes.write(0, row())
    await turn()
    await turn()
  }
  expect(sent.map(({ rows }) => rows)).toEqual([1, 32])
})

it('The rows and the size of a script are bounded, except for a row that is larger by itself', async () => {
  const many = setUp()
  for (let i = 0; i < 65; i++) void many.writes.write(0, row())
  const large = setUp()
  for (let i = 0; i < 2; i++) void large.writes.write(0, row('x'.repeat(300_000)))
  for (const { sent } of [many, large]) {
    await turn()
    sent[0]?.answer('saved 1 2')
    await turn()
    await turn()
  }
  expect(many.sent.map(({ rows }) => rows)).toEqual([64, 1])
  expect(large.sent.map(({ rows }) => rows)).toEqual([1, 1])
})

it('A row that failed inside the script is rejected alone, and may have been written', async () => {
  const { sent, writes } = setUp()
  const first = writes.write(0, row())
  const second = expect(writes.write(0, row())).rejects.toBeInstanceOf(AssertionError)
  const third = expect(writes.write(0, row())).rejects.toMatchObject({ applied: 'unknown' })
  await turn()
  sent[0]?.answer('saved 1 2', 'error WRONGTYPE of a key', 'error OOM command not allowed')
  expect(await first).toBe('saved 1 2')
  await Promise.all([second, third])
})

it('A failed script rejects all of its rows with its own error', async () => {
  const { sent, writes } = setUp()
  const failure = new StoreUnavailableError('Redis did not answer', { applied: 'unknown' })
  const rows = [1, 2].map(() => expect(writes.write(0, row())).rejects.toBe(failure))
  await turn()
  sent[0]?.fail(failure)
  await Promise.all(rows)
})

it('A write over the bound is refused, and one is accepted when another has been answered', async () => {
  const { sent, writes } = setUp({ ...BOUNDS, commandsInFlightMax: 1 })
  const first = writes.write(0, row())
  expect(() => writes.write(0, row())).toThrow(StoreUnavailableError)
  await turn()
  sent[0]?.answer('saved 1 2')
  await first
  await turn()
  expect(() => writes.write(0, row())).not.toThrow()
})
