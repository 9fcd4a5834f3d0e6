/**
 * This is one environment of a function on a fixture's store. It plays invocations by fake time and freezes between
 * them, and records the wake-ups it asks for.
 */
import type { BranchCaller, RefuseCall, WakeUpQueue, WakeUpRequest } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { RunOutcome } from '../../src/serverless/invocation.ts'
import {
  createServerlessEngine,
  type ServerlessEngine,
  type ServerlessParts,
} from '../../src/serverless/serverless-engine.ts'
import type { NodeClock } from './fake-time.ts'
import { FaultStore } from './fault-store.ts'
import { type Fixture, RecordingObserver, SETTINGS } from './fixture.ts'
import { Gate } from './gate.ts'

export class FunctionNode implements WakeUpQueue {
  readonly engine: ServerlessEngine
  readonly store: FaultStore
  readonly clock: NodeClock
  readonly seen = new RecordingObserver()
  /** The wake-up requests, in the order in which they were made. */
  readonly looks: WakeUpRequest[] = []
  isQueueDown = false
  #stopped: Gate | undefined

  constructor(
    fixture: Fixture,
    name: string,
    settings: Partial<typeof SETTINGS> = {},
    refuseCall?: RefuseCall,
    more: Partial<ServerlessParts> = {},
  ) {
    this.clock = fixture.time.clock()
    this.store = new FaultStore(fixture.store, () => fixture.time.now)
    this.store.capabilities = { durable: true, shared: true }
    this.store.isStopped = () => this.#stopped
    this.engine = createServerlessEngine({
      store: this.store,
      branches: this.#endingInTime(fixture.services.caller(name, () => this.#stopped)),
      checkUrl: fixture.checkUrl,
      ...(refuseCall === undefined ? {} : { refuseCall }),
      wakeUp: this,
      clock: this.clock,
      ids: fixture.ids(),
      observer: this.seen,
      settings: { ...SETTINGS, ...settings },
      ...more,
    })
  }

  async schedule(requests: readonly WakeUpRequest[]): Promise<void> {
    if (this.isQueueDown) throw new Error('the queue is down')
    this.looks.push(...requests)
  }

  look(gid: string, remainingMs: number): Promise<RunOutcome> {
    return this.engine.during(remainingMs, (invocation) => invocation.runClaimed(gid as Gid))
  }

  /** Plays SIGSTOP, or SIGKILL where no thaw follows. */
  freeze(): void {
    this.#stopped ??= new Gate()
    this.clock.freeze()
  }

  thaw(): void {
    const gate = this.#stopped
    this.#stopped = undefined
    this.clock.thaw()
    gate?.open()
  }

  #endingInTime(inner: BranchCaller): BranchCaller {
    return {
      call: (call) =>
        new Promise((resolve, reject) => {
          const cancel = this.clock.after(call.timeoutMs, () =>
            resolve({ result: 'unknown', error: 'timeout' }),
          )
          inner.call(call).then(resolve, reject).finally(cancel)
        }),
      close: () => inner.close(),
    }
  }
}
