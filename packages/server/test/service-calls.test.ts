import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { countServiceCalls } from '../src/metrics/service-calls.ts'

function fixture(named: readonly string[] = []) {
  const registry = new Registry()
  const count = countServiceCalls(registry, named)
  return {
    call(service: string, times = 1) {
      for (let call = 0; call < times; call++) count(service, 'action', 'success')
    },
    count,
    /** Reads the counts by service. */
    async read(): Promise<ReadonlyMap<string, number>> {
      const text = await registry.metrics()
      const lines = text.matchAll(/^counterstep_service_calls_total\{service="([^"]*)",.*\} (\d+)$/gm)
      const counts = new Map<string, number>()
      for (const [, service = '', value] of lines)
        counts.set(service, (counts.get(service) ?? 0) + Number(value))
      return counts
    },
  }
}

it('Calls are counted by service, op and result', async () => {
  const registry = new Registry()
  const count = countServiceCalls(registry, ['bank'])
  count('bank', 'compensate', 'unknown')
  count('bank', 'compensate', 'unknown')
  count('bank', 'action', 'failure')
  const lines = (await registry.metrics()).split('\n')
  expect(lines).toContain(
    'counterstep_service_calls_total{service="bank",op="compensate",result="unknown"} 2',
  )
  expect(lines).toContain('counterstep_service_calls_total{service="bank",op="action",result="failure"} 1')
})

it('Beside the named services, the 50 busiest have a label, and the rest is other', async () => {
  const { call, read } = fixture(['bank', 'ledger'])
  call('bank')
  for (let n = 1; n <= 80; n++) call(`host-${n}`, n)
  const counts = await read()
  expect(counts.size).toBe(1 + 50 + 1)
  expect(counts.get('bank')).toBe(1)
  expect(counts.get('host-80')).toBe(80)
  expect(counts.get('host-31')).toBe(31)
  expect(counts.has('host-30')).toBe(false)
  expect(counts.get('other')).toBe((30 * 31) / 2)
  call('ledger')
  expect((await read()).get('ledger')).toBe(1)
})

it('No count ever falls, and none is lost, however many services come and go', async () => {
  const { call, read } = fixture()
  let before: ReadonlyMap<string, number> = new Map()
  let calls = 0
  for (let scrape = 0; scrape < 20; scrape++) {
    for (let n = 0; n < 300; n++) {
      call(`host-${(scrape * 37 + n * n) % 997}.test`)
      calls++
    }
    const counts = await read()
    for (const [service, count] of before) expect(counts.get(service) ?? 0).toBeGreaterThanOrEqual(count)
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(calls)
    expect(counts.size).toBeLessThanOrEqual(51)
    before = counts
  }
})

it('A service that is called other has no label of its own beside those that find no room', async () => {
  const { call, read } = fixture()
  call('other', 3)
  expect([...(await read())]).toEqual([['other', 3]])
})

it('A name that a URL brings cannot break a line of the metrics', async () => {
  const registry = new Registry()
  countServiceCalls(registry, [])('a"} 1\nforged{b="c', 'action', 'success')
  expect(await registry.metrics()).not.toMatch(/^forged/m)
})
