import { randomUUID } from 'node:crypto'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from '../several-nodes/audit-effects.ts'
import { BranchService } from '../several-nodes/branch-service.ts'
import { Gate } from '../several-nodes/gate.ts'
import { type OwnStore, ownStore } from '../several-nodes/own-store.ts'
import { serialSaga } from '../several-nodes/saga-requests.ts'
import type { HostKind } from './host.ts'

/** The host at which a saga begins, and the host at which it ends. */
export interface Crossing {
  readonly from: HostKind
  readonly to: HostKind
}

/** The work of a killed function passes to another one when its lease is over. */
const STUCK_MS = 30_000
const TEST_MS = 90_000
const WAIT = { timeoutMs: STUCK_MS }

/** Defines the tests of sagas that go from one host to another, all on one database of this server. */
export function testCrossings(serverUrl: string, crossings: readonly Crossing[]): void {
  let branches: BranchService
  let store: OwnStore

  beforeAll(async () => {
    store = await ownStore(serverUrl)
    branches = await BranchService.start()
  })

  afterAll(async () => {
    await branches.stop()
    await store.drop()
  })

  /**
   * Their second call waits at a gate at the first host, and their third is never done there, however long that takes to
   * stop; elsewhere the third of the bad one refuses.
   */
  function heldSagas() {
    const gate = new Gate()
    const [good, bad] = [`good-${randomUUID()}`, `bad-${randomUUID()}`]
    branches.rule = async ({ gid, branchId, op, epoch }) => {
      if (branchId === '02' && epoch === 1) await gate.pass()
      if (branchId !== '03' || op !== 'action') return 'run'
      if (epoch === 1) return 'wait'
      return gid === bad ? 'refuse' : 'run'
    }
    const requests = [good, bad].map((gid) => serialSaga(gid, branches.url, 3))
    return { gate, good, bad, requests }
  }

  function listCalls(gid: string): readonly string[] {
    return branches.calls(gid).map(({ branchId, op, epoch }) => `${branchId} ${op} ${epoch}`)
  }

  for (const { from, to } of crossings) {
    it(
      `A saga whose host is ${from.name} and dies is finished by ${to.name}`,
      async () => {
        const { gate, good, bad, requests } = heldSagas()
        await using first = await from.start(store.url, branches.url)
        await Promise.all(requests.map((request) => first.submit(request)))
        await until('both are in their second call', STUCK_MS, () => gate.arrived === 2)
        await first.kill()
        await using second = await to.start(store.url, branches.url)
        const views = await Promise.all([good, bad].map((gid) => second.client.wait(gid, WAIT)))
        gate.open()
        expect(views).toMatchObject([
          { status: 'succeeded', epoch: 2 },
          { status: 'failed', epoch: 2 },
        ])
        // The first is asked again unless its answer was saved, lazily, before the end.
        const calls = listCalls(good).filter((call) => call !== '01 action 2')
        expect(calls).toEqual(['01 action 1', '02 action 1', '02 action 2', '03 action 2'])
        await until('the calls of the dead host have had their effect', STUCK_MS, () =>
          [good, bad].every((gid) => branches.calls(gid).every(({ statusCode }) => statusCode !== undefined)),
        )
        expect(views.flatMap((view) => auditEffects(branches.ledger, view))).toEqual([])
        await second.close()
      },
      TEST_MS,
    )

    it(
      `A saga that ${from.name} gives back when it closes is finished by ${to.name}`,
      async () => {
        const { gate, good, bad, requests } = heldSagas()
        await using first = await from.start(store.url, branches.url)
        await Promise.all(requests.map((request) => first.submit(request)))
        await until('both are in their second call', STUCK_MS, () => gate.arrived === 2)
        const closed = first.close()
        await until('it takes no more work', STUCK_MS, async () => !(await first.isReady()))
        gate.open()
        await closed
        await using second = await to.start(store.url, branches.url)
        const views = await Promise.all([good, bad].map((gid) => second.client.wait(gid, WAIT)))
        expect(views).toMatchObject([{ status: 'succeeded' }, { status: 'failed' }])
        // A call that was answered while the node closed is not asked again.
        const calls = listCalls(good).filter((call) => call !== '03 action 1')
        expect(calls).toEqual(['01 action 1', '02 action 1', '03 action 2'])
        expect(views.flatMap((view) => auditEffects(branches.ledger, view))).toEqual([])
        await second.close()
      },
      TEST_MS,
    )

    it(
      `A saga that runs in ${from.name} is seen and aborted in ${to.name}`,
      async () => {
        const { gate, good, requests } = heldSagas()
        await using first = await from.start(store.url, branches.url)
        await using second = await to.start(store.url, branches.url)
        await Promise.all(requests.map((request) => first.submit(request)))
        await until('both are in their second call', STUCK_MS, () => gate.arrived === 2)
        expect(await second.client.get(good)).toMatchObject({ status: 'submitted' })
        await second.client.abort(good)
        gate.open()
        const view = await second.client.wait(good, WAIT)
        expect(view).toMatchObject({ status: 'failed', abort: { cause: 'requested' } })
        expect(await first.client.get(good)).toEqual(view)
        expect(auditEffects(branches.ledger, view)).toEqual([])
        await Promise.all([first.close(), second.close()])
      },
      TEST_MS,
    )
  }
}
