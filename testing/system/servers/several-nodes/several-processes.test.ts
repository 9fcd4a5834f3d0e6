import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '@counterstep/test-servers/is-alive'
import { until } from '@counterstep/test-servers/until'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { BranchService } from './branch-service.ts'
import { Load } from './load.ts'
import { readMetric } from './metrics.ts'
import { NodeProcess } from './node-process.ts'
import { type OwnStore, ownStore } from './own-store.ts'
import { serialSaga } from './saga-requests.ts'

const PROCESSES = 2
const CALLERS = 16
const LEASE_MS = 3_000
const RESTARTED_MS_MAX = 60_000
const REPLACED_MS_MAX = 20_000
/** A stop promises to take no longer. */
const STOP_MS_MAX = 10_000
const IN_FLIGHT_MAX = 4_096

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, `${PROCESSES} processes on one port`, (storeUrl) => {
    let store: OwnStore
    let branches: BranchService
    let node: NodeProcess
    let acceptedInAll = 0

    beforeAll(async () => {
      store = await ownStore(storeUrl)
      branches = await BranchService.start()
      branches.rule = async ({ gid, branchId, op }) => {
        await delay(20)
        return gid.endsWith('7') && branchId === '03' && op === 'action' ? 'refuse' : 'run'
      }
      node = await NodeProcess.start({
        ...{ store: store.url, processes: PROCESSES, 'lease-ms': LEASE_MS, 'log-level': 'info' },
      })
    })

    afterAll(async () => {
      if (node.isAlive) await node.kill()
      await branches.stop()
      await store.drop()
    })

    /** Reads from Linux which processes are there now. */
    function listWorkers(): readonly number[] {
      const text = readFileSync(`/proc/${node.pid}/task/${node.pid}/children`, 'utf8').trim()
      return text === '' ? [] : text.split(' ').map(Number)
    }

    const readAccepted = () => readMetric(node.url, 'counterstep_transactions_accepted_total')

    function startLoad(name: string): Load {
      return new Load({
        callers: CALLERS,
        request: (index) => serialSaga(`${name}-${index}`, branches.url, 3),
        pickUrl: () => node.url,
      })
    }

    async function expectSound(load: Load): Promise<void> {
      const views = await load.end()
      expect(new Set(views.map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']))
      expect(views.flatMap((view) => auditEffects(branches.ledger, view))).toEqual([])
    }

    it('The metrics of all are added up, whichever is asked', async () => {
      const load = startLoad('count')
      await until('some were accepted', REPLACED_MS_MAX, () => load.accepted.size >= 40)
      await expectSound(load)
      acceptedInAll += load.accepted.size
      expect(await readAccepted()).toBe(acceptedInAll)
      expect(await readMetric(node.url, 'counterstep_transactions_in_flight_max')).toBe(
        PROCESSES * IN_FLIGHT_MAX,
      )
      expect(await readMetric(node.url, 'counterstep_ready')).toBe(1)
      // The store is one, so its figures are not.
      expect(await readMetric(node.url, 'counterstep_store_stats_up')).toBe(1)
    })

    it('SIGHUP restarts one after the other, and no caller is refused or cut off', async () => {
      const before = listWorkers()
      const load = startLoad('roll')
      await until('some were accepted', REPLACED_MS_MAX, () => load.accepted.size >= 40)
      node.signal('SIGHUP')
      await until('all processes are new', RESTARTED_MS_MAX, () =>
        node.log.some((line) => line.includes('all processes are new')),
      )
      await expectSound(load)
      const after = listWorkers()
      expect(after).toHaveLength(PROCESSES)
      expect(after.filter((pid) => before.includes(pid))).toEqual([])
      process.stdout.write(`${server}: ${load.accepted.size} sagas over a restart; ${load.counts}\n`)
      expect(load.counts.toString()).toMatch(/^(\d+× (200|202)(, )?)+$/)
      // A counter that fell would be taken for a restart of all.
      acceptedInAll += load.accepted.size
      expect(await readAccepted()).toBe(acceptedInAll)
    }, 120_000)

    it('A process that is killed is replaced, and its sagas end', async () => {
      const before = listWorkers()
      const load = startLoad('kill')
      await until('some were accepted', REPLACED_MS_MAX, () => load.accepted.size >= 40)
      const [killed = 0] = before
      process.kill(killed, 'SIGKILL')
      await until('another has taken its place', REPLACED_MS_MAX, () => {
        const now = listWorkers()
        return now.length === PROCESSES && !now.includes(killed)
      })
      await expectSound(load)
      expect(await readAccepted()).toBeGreaterThanOrEqual(acceptedInAll)
    }, 120_000)

    it('A stop that all of them are told of, as a terminal does it, ends them well', async () => {
      const workers = listWorkers()
      for (const pid of workers) process.kill(pid, 'SIGTERM')
      const { code, tookMs } = await node.stop()
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(STOP_MS_MAX)
      expect(workers.filter(isAlive)).toEqual([])
    })
  })
}
