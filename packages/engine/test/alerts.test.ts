import type { BranchCall, NewTransaction, StoreEvent } from '@counterstep/core'
import { ALERT_NAME, ALERT_RULES, type AlertFacts, type AlertRule } from '@counterstep/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AlertOptions, AlertTarget } from '../src/alerts/alert-options.ts'
import { StoreEventMemory } from '../src/alerts/store-event-memory.ts'
import { START_AT } from './support/fake-time.ts'
import { lostAfter, refused } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { buildBranch, buildSaga, readCode } from './support/sagas.ts'

const MINUTE_MS = 60_000
const PATIENT = { retry: { initialMs: 3_600_000, factor: 1, capMs: 3_600_000, jitter: 0, limit: null } }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_AT })
})
afterEach(() => {
  vi.useRealTimers()
})

function buildTarget(name: string, change: Partial<AlertTarget> = {}): AlertTarget {
  return {
    name,
    service: `alert-${name}`,
    rules: ALERT_RULES,
    writeBody: (facts) => JSON.stringify(facts),
    ...change,
  }
}

/** A store, services, and nodes that tell of alerts. Calls of webhooks are kept. */
class Told {
  readonly fixture = new Fixture()
  readonly nodes: TestNode[] = []
  readonly webhooks: BranchCall[] = []
  readonly events = new StoreEventMemory(() => this.fixture.time.now)
  /** The services answer this to a compensation. */
  undo: 'success' | 'failure' = 'failure'
  isWebhookUp = true

  constructor() {
    const { services } = this.fixture
    services.otherwise = ({ url, op }) => {
      if (url.startsWith('alert-')) return this.isWebhookUp ? 'success' : 'unknown'
      if (op === 'compensate') return this.undo
      return url.endsWith('/02/action') ? 'failure' : 'success'
    }
    services.onArrival = (call) => {
      if (call.url.startsWith('alert-')) this.webhooks.push(call)
    }
  }

  async start(count: number, options: Partial<AlertOptions> = {}): Promise<readonly TestNode[]> {
    const alerts = { failedShare: 0.05, targets: [buildTarget('ops')], storeEvents: this.events, ...options }
    for (let each = 0; each < count; each++)
      this.nodes.push(await this.fixture.node({ ...PATIENT, isTold: true, alerts }))
    return this.nodes
  }

  /** A saga whose second branch refuses, and whose first cannot be undone. */
  async strand(node: TestNode, gid: string, change: object = {}): Promise<void> {
    await node.submit(buildSaga(gid, 2, change))
    await this.fixture.time.until('it needs a person', async () => (await this.fixture.row(gid)).attention)
  }

  /** Lets the time pass in which nothing runs, as while all machines sleep. */
  pass(ms: number): void {
    this.fixture.time.now += ms
    vi.setSystemTime(this.fixture.time.now)
  }

  get bodies(): readonly AlertFacts[] {
    return this.webhooks.map(({ body }) => JSON.parse(body) as AlertFacts)
  }

  untilTold(count: number, limitMs = 30 * MINUTE_MS): Promise<void> {
    return this.fixture.time.until(`${count} alerts`, () => this.webhooks.length >= count, limitMs)
  }
}

describe('alerts of three nodes on one store', () => {
  it('tell a problem once, in one transaction, though each node sees it', async () => {
    const told = new Told()
    const [first] = await told.start(3)
    await told.strand(first as TestNode, 'order-1', { name: 'transfer' })
    await told.untilTold(1)
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.bodies).toEqual([
      {
        rule: 'attention',
        state: 'open',
        problem: expect.stringContaining('bank.test compensate'),
        count: 1,
        since: expect.any(Number),
        names: ['transfer'],
        sampleGids: ['order-1'],
      },
    ])
    const [{ gid, url }] = told.webhooks as [BranchCall]
    expect([gid, url]).toEqual([expect.stringMatching(/^alert-attention-[0-9a-f]{16}-\d+$/), 'alert-ops:/'])
    expect(await told.fixture.status(gid)).toBe('succeeded')
    const alerts = await told.fixture.store.list({ limit: 100, name: ALERT_NAME })
    expect(alerts.items).toHaveLength(1)
    expect(alerts.items[0]).toMatchObject({ kind: 'message', tags: { rule: 'attention' } })
  })

  it('tell the end, to those who were told of the beginning', async () => {
    const told = new Told()
    const targets = [buildTarget('ops'), buildTarget('payouts', { names: ['payout'] })]
    const [first] = await told.start(3, { targets })
    await told.strand(first as TestNode, 'order-1', { name: 'transfer' })
    await told.untilTold(1)
    told.undo = 'success'
    await first?.command('retry', 'order-1')
    await told.untilTold(2)
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.bodies.map(({ state }) => state)).toEqual(['open', 'over'])
    expect(told.webhooks.map(({ url }) => url)).toEqual(['alert-ops:/', 'alert-ops:/'])
  })

  it('are sent though the node that decided dies before it has submitted, and are of equal content', async () => {
    const told = new Told()
    const nodes = await told.start(3)
    await told.strand(nodes[0] as TestNode, 'order-1')
    /** The node that has written the decision stops at the submit. */
    let died: TestNode | undefined
    for (const node of nodes)
      node.store.on(
        'create',
        async (apply) => {
          if (died === undefined) {
            died = node
            node.kill()
          }
          return apply()
        },
        { when: (row: { readonly gid: string }) => row.gid.startsWith('alert-') },
      )
    await told.untilTold(1)
    expect(died).toBeDefined()
    await told.fixture.time.advance(10 * MINUTE_MS)
    // The dead one comes back and submits what it had decided.
    died?.thaw()
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.bodies.map(({ rule }) => rule)).toEqual(['attention'])
    // Both nodes submitted it, and what they submitted was byte for byte the same.
    const submitted = nodes.flatMap(({ store }) =>
      store.calls.flatMap(({ verb, request }) => (verb === 'create' ? [request as NewTransaction] : [])),
    )
    const alerts = submitted.filter(({ gid }) => gid.startsWith('alert-'))
    expect(alerts.length).toBeGreaterThan(1)
    expect(new Set(alerts.map(({ digest, definition }) => digest + definition)).size).toBe(1)
  })

  it('are sent once though the answer to the submit is lost', async () => {
    const told = new Told()
    const nodes = await told.start(3)
    for (const { store } of nodes)
      store.on('create', lostAfter, { when: (row: { readonly gid: string }) => row.gid.startsWith('alert-') })
    await told.strand(nodes[0] as TestNode, 'order-1')
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.webhooks).toHaveLength(1)
  })

  it('count as sent if newer code has sent the same in other words', async () => {
    const told = new Told()
    const [node] = await told.start(1)
    await told.strand(node as TestNode, 'order-1')
    node?.store.on(
      'create',
      async (apply) => {
        const row = node.store.calls.at(-1)?.request as NewTransaction
        await told.fixture.store.create({ ...row, digest: 'f'.repeat(64), writeId: 'other-words' })
        return apply()
      },
      { when: (row: { readonly gid: string }) => row.gid.startsWith('alert-') },
    )
    await told.fixture.time.advance(2 * MINUTE_MS)
    const [document] = await told.fixture.store.readDocuments('alerts')
    expect(JSON.parse(document?.text ?? '{}')).toMatchObject({ pending: [], cases: [{ stage: 'open' }] })
    expect(node?.seen.named('alert-failed')).toEqual([])
  })

  it('leave a document of newer code alone', async () => {
    const told = new Told()
    const text = '{"format":2}'
    await told.fixture.store.writeDocument({
      ...{ category: 'alerts', key: 'state', text, expectedVersion: 0, writeId: 'newer' },
    })
    const [node] = await told.start(1)
    await told.strand(node as TestNode, 'order-1')
    await told.fixture.time.advance(5 * MINUTE_MS)
    expect(told.webhooks).toEqual([])
    expect((await told.fixture.store.readDocuments('alerts'))[0]?.text).toBe(text)
  })
})

describe('an alert', () => {
  it('that is not delivered raises none, is in no statistics, and is stopped after a day', async () => {
    const told = new Told()
    told.isWebhookUp = false
    const [node] = (await told.start(1)) as [TestNode]
    await told.strand(node, 'order-1', { name: 'transfer' })
    await told.untilTold(1)
    const [{ gid }] = told.webhooks as [BranchCall]
    // The saga that is stuck is told as unfinished after an hour, and the alert never.
    await told.fixture.time.advance(2 * 60 * MINUTE_MS)
    expect(await told.fixture.status(gid)).toBe('submitted')
    const seen = new Set(told.bodies.map(({ rule, problem }) => `${rule} ${problem.split(' ')[0]}`))
    expect(seen).toEqual(new Set(['attention bank.test', 'stuck unfinished']))
    expect(told.bodies.every(({ sampleGids }) => sampleGids.join() === 'order-1')).toBe(true)
    const { items: names } = await node.engine.names()
    const { items: services } = await node.engine.services()
    expect(names.map(({ name }) => name)).not.toContain(ALERT_NAME)
    expect(services.filter(({ service }) => service.startsWith('alert-') && service !== 'alert-ops')).toEqual(
      [],
    )
    told.pass(24 * 60 * MINUTE_MS)
    await told.fixture.time.until(
      'the alert is stopped',
      async () => (await told.fixture.status(gid)) === 'stopped',
      30 * MINUTE_MS,
    )
    expect(node.seen.named('alert-undelivered')).toContainEqual(
      expect.objectContaining({ gid, level: 'error' }),
    )
  })

  it('has a name that no submit may use', async () => {
    const told = new Told()
    const [node] = (await told.start(1)) as [TestNode]
    expect(await readCode(node.submit(buildSaga('order-1', 1, { name: ALERT_NAME })))).toBe(
      'SAGA_NAME_INVALID',
    )
  })

  it('tells that many transactions of a name fail', async () => {
    const told = new Told()
    told.undo = 'success'
    const [node] = (await told.start(1)) as [TestNode]
    for (let each = 0; each < 20; each++)
      await node.submit(buildSaga(`order-${each}`, 2, { name: 'transfer' }))
    await told.untilTold(1)
    expect(told.bodies).toEqual([
      expect.objectContaining({
        rule: 'failed',
        problem: 'transfer',
        count: 20,
        total: 20,
        names: ['transfer'],
      }),
    ])
    expect(told.bodies[0]?.sampleGids).toHaveLength(5)
  })

  it('tells what the store has lost, though it was noted before the engine was there', async () => {
    const told = new Told()
    for (const name of ['store-tail-lost', 'store-connected'] satisfies StoreEvent['name'][])
      told.events.note({ name })
    await told.start(1)
    await told.untilTold(1)
    await told.fixture.time.advance(2 * 60 * MINUTE_MS)
    expect(told.bodies).toEqual([
      expect.objectContaining({ rule: 'store', problem: 'store-tail-lost', count: 1 }),
    ])
  })

  it('tells what is paused for over a day, and not before', async () => {
    const told = new Told()
    const [node] = (await told.start(1, { targets: [buildTarget('ops', { rules: ['paused'] })] })) as [
      TestNode,
    ]
    await told.strand(node, 'order-1')
    await node.engine.pause('order-1' as never, {}, { by: { via: 'local' }, reason: 'the bank is mended' })
    told.pass(23 * 60 * MINUTE_MS)
    await told.fixture.time.advance(5 * MINUTE_MS)
    expect(told.webhooks).toEqual([])
    told.pass(60 * MINUTE_MS)
    await told.untilTold(1)
    expect(told.bodies).toEqual([expect.objectContaining({ rule: 'paused', sampleGids: ['order-1'] })])
  })

  it('tells of a bulk job that has paused by itself', async () => {
    const told = new Told()
    const [node] = (await told.start(1, { targets: [buildTarget('ops', { rules: ['bulk'] })] })) as [TestNode]
    await told.strand(node, 'order-1')
    const { id } = await node.engine.bulk.create(
      {
        command: 'retry',
        choice: { gids: ['order-1' as never] },
        reason: 'the bank is mended',
        ratePerSecond: 500,
        canary: 1,
        max: 10,
      },
      { via: 'local' },
    )
    await told.untilTold(1)
    expect(told.bodies).toEqual([expect.objectContaining({ rule: 'bulk', problem: id })])
  })

  it('has a branch for each target whose rules name it', async () => {
    const told = new Told()
    const only = (rule: AlertRule) => ({ rules: [rule] })
    const targets = [
      buildTarget('ops'),
      buildTarget('slack', only('attention')),
      buildTarget('dba', only('store')),
    ]
    const [node] = (await told.start(1, { targets })) as [TestNode]
    await told.strand(node, 'order-1')
    await told.untilTold(2)
    await told.fixture.time.advance(5 * MINUTE_MS)
    expect(told.webhooks.map(({ url, branchId }) => `${branchId} ${url}`)).toEqual([
      'target1 alert-ops:/',
      'target2 alert-slack:/',
    ])
    expect(new Set(told.webhooks.map(({ gid }) => gid)).size).toBe(1)
  })
})

describe('a target with a filter', () => {
  const MANY = 51
  const ATTENTION = { rules: ['attention'] } as const

  /** The troubles of two services are two problems. */
  function callShop(gid: string): object {
    const branch = (id: string) => buildBranch(gid, id)
    const call = (url: string) => url.replace('bank.test', 'shop.test')
    return {
      branches: ['01', '02'].map(branch).map(({ action, compensation, ...more }) => ({
        ...more,
        action: call(String(action)),
        compensation: call(String(compensation)),
      })),
    }
  }

  for (const [title, filter, change] of [
    ['names', { names: ['refund', 'transfer'] }, { name: 'transfer' }],
    ['tags', { tags: { tier: 'gold' } }, { name: 'transfer', tags: { tier: 'gold' } }],
  ] as const)
    it(`is told once by its ${title} of what 51 transactions of others hide`, async () => {
      const told = new Told()
      const targets = [buildTarget('ops', ATTENTION), buildTarget('pager', { ...ATTENTION, ...filter })]
      const [node] = (await told.start(1, { targets })) as [TestNode]
      for (let at = 0; at < MANY; at++) await told.strand(node, `junk-${at}`, { name: 'junk' })
      await told.untilTold(1)
      await told.strand(node, 'order-1', change)
      await told.untilTold(2)
      await told.fixture.time.advance(20 * MINUTE_MS)
      const [{ problem = '' } = {}] = told.bodies
      expect(told.webhooks.map(({ url }) => url)).toEqual(['alert-ops:/', 'alert-pager:/'])
      expect(told.bodies[1]).toEqual({
        ...{ rule: 'attention', state: 'open', problem, count: MANY + 1, since: expect.any(Number) },
        ...{ names: ['transfer'], sampleGids: ['order-1'] },
      })
      expect(new Set(told.webhooks.map(({ gid }) => gid)).size).toBe(2)
    })

  it('is told of what stands behind a page of a problem that it knows', async () => {
    const told = new Told()
    const targets = [
      buildTarget('ops', ATTENTION),
      buildTarget('pager', { ...ATTENTION, names: ['transfer'] }),
    ]
    const [node] = (await told.start(1, { targets })) as [TestNode]
    for (let at = 0; at < MANY; at++) await told.strand(node, `known-${at}`, { name: 'transfer' })
    await told.untilTold(1)
    for (let at = 0; at < MANY; at++)
      await told.strand(node, `junk-${at}`, { name: 'junk', ...callShop(`junk-${at}`) })
    await told.untilTold(3)
    await told.strand(node, 'order-1', { name: 'transfer', ...callShop('order-1') })
    await told.untilTold(4)
    expect(told.webhooks.slice(2).map(({ url }) => url)).toEqual(['alert-ops:/', 'alert-pager:/'])
    expect(told.bodies[3]).toMatchObject({
      problem: expect.stringContaining('shop'),
      sampleGids: ['order-1'],
    })
  })
})

describe('the gid of an alert', () => {
  it('S31: is taken by no client, which could work it out before the alert comes', async () => {
    const told = new Told()
    const [node] = (await told.start(1)) as [TestNode]
    for (const gid of ['alert-attention-0123456789abcdef-1966080', 'alert-digest-0123456789abcdef-1'])
      expect(await readCode(node.submit(buildSaga(gid, 1)))).toBe('SAGA_GID_INVALID')
    for (const gid of ['alert-7', 'alert-attention-0123456789abcde-1', 'my-alert-store-0123456789abcdef-1'])
      expect((await node.submit(buildSaga(gid, 1))).gid).toBe(gid)
  })
})

describe('a store that is away', () => {
  it('is told once by each node itself, with one gid, after a minute and in at most three tries', async () => {
    const told = new Told()
    const nodes = await told.start(2)
    await told.fixture.time.advance(MINUTE_MS)
    const back = nodes.map(({ store }) => store.goDown(refused))
    told.isWebhookUp = false
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.webhooks.map(({ attempt }) => attempt).sort()).toEqual([1, 1, 2, 2, 3, 3])
    expect(new Set(told.webhooks.map(({ gid }) => gid)).size).toBe(1)
    expect(told.bodies[0]).toMatchObject({ rule: 'store', problem: 'store-does-not-answer' })
    for (const goUp of back) goUp()
    told.isWebhookUp = true
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.webhooks).toHaveLength(6)
  })

  it('is not told if it comes back within a minute', async () => {
    const told = new Told()
    const [node] = (await told.start(1)) as [TestNode]
    const goUp = node.store.goDown(refused)
    await told.fixture.time.advance(50_000)
    goUp()
    await told.fixture.time.advance(10 * MINUTE_MS)
    expect(told.webhooks).toEqual([])
  })

  it('keeps the watcher from nothing: it stops with its engine', async () => {
    const told = new Told()
    const [node] = (await told.start(1)) as [TestNode]
    await told.fixture.time.advance(MINUTE_MS)
    node.store.goDown(refused)
    const closed = node.engine.close(1_000)
    await told.fixture.time.advance(5_000)
    await closed
    await told.fixture.time.advance(30 * MINUTE_MS)
    expect(told.webhooks).toEqual([])
  })
})
