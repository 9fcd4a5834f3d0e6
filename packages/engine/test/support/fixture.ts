/** The world of one test: a time, a store, participants, and as many nodes as it needs. */
import type { CheckUrl, DurabilityClass, Ids, Store, StoredTransaction } from '@counterstep/core'
import type { ErrorCode, FinalStatus, Gid, SubmitView, TransactionView } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import type { AlertOptions } from '../../src/alerts/alert-options.ts'
import { createEngine, type Engine } from '../../src/engine.ts'
import type { WaitOptions } from '../../src/engine-api.ts'
import type { EngineEvent, EngineObserver } from '../../src/observer.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from '../../src/settings.ts'
import type { EngineTracer } from '../../src/tracer.ts'
import { FakeTime, type NodeClock } from './fake-time.ts'
import { FaultStore } from './fault-store.ts'
import { Gate } from './gate.ts'
import { Participants } from './participants.ts'

export const SETTINGS: EngineSettings = {
  ...DEFAULT_SETTINGS,
  acceptNewKinds: true,
  retry: { initialMs: 200, factor: 2, capMs: 60_000, jitter: 0, limit: null },
}

interface NodeOptions extends Partial<EngineSettings> {
  readonly durabilityClass?: DurabilityClass
  readonly failover?: Store['failover']
  readonly clockOriginAt?: number
  readonly listedOrigins?: readonly string[]
  /** Other nodes may write to its store. The default is true. */
  readonly isShared?: boolean
  /** It tells the other nodes about itself. */
  readonly isTold?: boolean
  /** The wall clock of this node is wrong by so much. */
  readonly wallClockAheadMs?: number
  readonly alerts?: AlertOptions
  readonly tracer?: EngineTracer
}

export class Fixture {
  readonly time = new FakeTime()
  readonly store: Store = memoryStore({ now: () => this.time.now })
  readonly services = new Participants(() => this.time.now)
  jitter: () => number = () => 0.5
  checkUrl: CheckUrl = (url) =>
    /^https?:/.test(url) ? undefined : { code: 'SAGA_URL_INVALID', message: 'is not a URL' }
  #drawn = 0
  #nodes = 0

  /** Starts a node with its loops running. */
  async node(options: NodeOptions = {}): Promise<TestNode> {
    const node = this.idleNode(options)
    await node.engine.start()
    return node
  }

  /** Creates a node whose loops do not run. */
  idleNode({
    durabilityClass = 'A',
    failover,
    clockOriginAt,
    listedOrigins = [],
    isShared = true,
    isTold = false,
    wallClockAheadMs = 0,
    alerts,
    tracer,
    ...settings
  }: NodeOptions = {}): TestNode {
    this.#nodes++
    return new TestNode(this, `node-${this.#nodes}`, {
      settings: { ...SETTINGS, ...settings },
      durabilityClass,
      failover,
      listedOrigins,
      isShared,
      isTold,
      wallClockAheadMs,
      alerts,
      tracer,
      clock: this.time.clock(clockOriginAt),
    })
  }

  ids(): Ids {
    return {
      token: () => this.#draw().padStart(32, '0'),
      writeId: () => `w-${this.#draw()}`,
      gid: () => `made-${this.#draw()}` as Gid,
      jitter: () => this.jitter(),
    }
  }

  async row(gid: string): Promise<StoredTransaction> {
    const [row] = await this.store.readMany([gid as Gid])
    if (row === undefined) throw new Error(`no row ${gid}`)
    return row
  }

  async rows(): Promise<number> {
    return (await this.store.list({ limit: 10_000 })).items.length
  }

  async status(gid: string): Promise<string> {
    const [row] = await this.store.readMany([gid as Gid])
    return row?.status ?? 'absent'
  }

  async unfinished(): Promise<number> {
    const { submitted, aborting } = (await this.store.stats()).unfinished
    return submitted + aborting
  }

  untilStatus(gid: string, status: string, limitMs?: number): Promise<void> {
    return this.time.until(
      `${gid} ${status} in the store`,
      async () => (await this.status(gid)) === status,
      limitMs,
    )
  }

  #draw(): string {
    this.#drawn++
    return this.#drawn.toString(16)
  }
}

interface NodeParts {
  readonly settings: EngineSettings
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover'] | undefined
  readonly listedOrigins: readonly string[]
  readonly isShared: boolean
  readonly isTold: boolean
  readonly wallClockAheadMs: number
  readonly alerts: AlertOptions | undefined
  readonly tracer: EngineTracer | undefined
  readonly clock: NodeClock
}

export class TestNode {
  readonly name: string
  readonly engine: Engine
  readonly store: FaultStore
  readonly clock: NodeClock
  readonly seen = new RecordingObserver()
  #stopped: Gate | undefined

  constructor(
    fixture: Fixture,
    name: string,
    { settings, durabilityClass, failover, listedOrigins, isShared, isTold, ...parts }: NodeParts,
  ) {
    const { wallClockAheadMs, alerts, tracer, clock } = parts
    this.name = name
    this.clock = clock
    this.store = new FaultStore(fixture.store, () => fixture.time.now, durabilityClass, failover)
    this.store.capabilities = { durable: true, shared: isShared }
    this.store.isStopped = () => this.#stopped
    this.engine = createEngine({
      store: this.store,
      branches: fixture.services.caller(name, () => this.#stopped),
      checkUrl: fixture.checkUrl,
      listedOrigins,
      clock,
      ids: fixture.ids(),
      observer: this.seen,
      settings,
      readEpochMs: () => fixture.time.now + wallClockAheadMs,
      ...(alerts === undefined ? {} : { alerts }),
      ...(tracer === undefined ? {} : { tracer }),
      ...(isTold ? { node: { id: name, version: '0.1.0' } } : {}),
    })
  }

  submit(body: unknown, options?: Pick<WaitOptions, 'waitMs' | 'gone' | 'caller'>): Promise<SubmitView> {
    return this.engine.submit(body, options)
  }

  async get(gid: string): Promise<TransactionView | undefined> {
    return this.engine.get(gid as Gid)
  }

  async command(command: 'abort' | 'retry' | 'stop', gid: string): Promise<TransactionView> {
    return this.engine[command](gid as Gid)
  }

  /** Plays SIGSTOP: time goes on, and no code of the node runs. */
  freeze(): void {
    this.#stopped ??= new Gate()
    this.clock.freeze()
  }

  /** Plays SIGCONT. */
  thaw(): void {
    const gate = this.#stopped
    this.#stopped = undefined
    this.clock.thaw()
    gate?.open()
  }

  /** Plays SIGKILL. */
  kill(): void {
    this.freeze()
  }
}

export class RecordingObserver implements EngineObserver {
  readonly events: EngineEvent[] = []
  readonly refusals: ErrorCode[] = []
  readonly finishes: FinalStatus[] = []
  readonly claims: number[] = []
  accepts = 0
  branchCalls = 0

  accepted(): void {
    this.accepts++
  }
  refused(code: ErrorCode): void {
    this.refusals.push(code)
  }
  finished(_kind: unknown, status: FinalStatus): void {
    this.finishes.push(status)
  }
  branchCalled(): void {
    this.branchCalls++
  }
  storeCalled(): void {
    // The store's wrapper counts these.
  }
  claimed(count: number): void {
    this.claims.push(count)
  }
  event(event: EngineEvent): void {
    this.events.push(event)
  }

  named(name: string): readonly EngineEvent[] {
    return this.events.filter((event) => event.name === name)
  }
}
