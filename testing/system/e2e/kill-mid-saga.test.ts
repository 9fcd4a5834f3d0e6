import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditBank } from '@counterstep/example-bank'
import type { TransactionView } from '@counterstep/protocol'
import { Random } from '@counterstep/simulator'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, startChild } from './child-process.ts'
import { KillClient } from './kill-client.ts'
import {
  compensationsAfterRestart,
  type Effect,
  readEffects,
  repeatedCalls,
  unfinishedRows,
} from './read-ledger.ts'
import { ACCOUNTS, type MixedSaga, mixedSaga } from './saga-mix.ts'

const SAGAS = 200
const KILLS = 3
const UNFINISHED_MIN = 20
const SEED = 20_261_120
const STUCK_MS = 60_000

describe('kill -9 in the middle of many sagas', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-kill-'))
  const bankFiles = [join(folder, 'bank-a.db'), join(folder, 'bank-b.db')] as const
  const storeFile = join(folder, 'data', 'counterstep.db')
  const client = new KillClient()
  const unfinishedAtKill: number[] = []
  const views = new Map<string, TransactionView>()
  let banks: readonly Child[] = []
  let server: Child | undefined

  async function startServer(): Promise<void> {
    const flags = { 'poll-ms': 200, 'retry-initial-ms': 50, 'retry-cap-ms': 1_000, 'log-level': 'error' }
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
    server = await startChild(COUNTERSTEP_PROGRAM, [
      'serve',
      '--port',
      '0',
      '--data',
      join(folder, 'data'),
      '--ready-json',
      ...args,
    ])
    client.url = server.url
  }

  async function killServer(): Promise<void> {
    client.url = undefined
    await server?.kill('SIGKILL')
    unfinishedAtKill.push(countUnfinished())
  }

  /** Counts on a copy, so that the next start finds the files untouched. */
  function countUnfinished(): number {
    const copy = join(folder, `copy-${unfinishedAtKill.length}.db`)
    for (const suffix of ['', '-wal']) {
      if (existsSync(storeFile + suffix)) copyFileSync(storeFile + suffix, copy + suffix)
    }
    return unfinishedRows(copy)
  }

  beforeAll(async () => {
    banks = await Promise.all(
      bankFiles.map((file) =>
        startChild('examples/bank/src/main.ts', [
          '--data',
          file,
          '--accounts',
          String(ACCOUNTS),
          '--durability',
          'normal',
        ]),
      ),
    )
    await startServer()
    const urls = [banks[0]?.url ?? '', banks[1]?.url ?? ''] as const
    const draws = new Random(SEED)
    const random = () => draws.next()
    const sagas: MixedSaga[] = Array.from({ length: SAGAS }, (_, index) => mixedSaga(index, urls, random))
    const perKill = Math.ceil(SAGAS / KILLS)
    const running: Promise<void>[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const batch = sagas.slice(kill * perKill, (kill + 1) * perKill)
      running.push(...batch.map((saga) => client.run(saga)))
      const acknowledged = (kill + 1) * perKill - 5
      await until(
        'the batch is acknowledged',
        STUCK_MS,
        () => client.acknowledged.size >= Math.min(acknowledged, SAGAS),
      )
      const calls = bankCalls()
      await until('branches are being called', STUCK_MS, () => bankCalls() > calls + 20)
      await killServer()
      await startServer()
    }
    await Promise.all(running)
    await until('every saga is final', STUCK_MS, async () => (await client.unfinished()) === 0)
    for (const { request } of sagas) views.set(request.gid, await client.view(request.gid))
  }, 4 * STUCK_MS)

  afterAll(async () => {
    await Promise.all([server, ...banks].map((child) => child?.kill('SIGTERM')))
    rmSync(folder, { recursive: true, force: true })
  })

  function bankCalls(): number {
    return bankFiles.reduce((sum, file) => sum + auditBank(file).calls, 0)
  }

  it(`The server had at least ${UNFINISHED_MIN} unfinished sagas at each of ${KILLS} kills (seed ${SEED})`, () => {
    expect(unfinishedAtKill).toHaveLength(KILLS)
    expect(Math.min(...unfinishedAtKill)).toBeGreaterThanOrEqual(UNFINISHED_MIN)
  })

  it('The server repeated calls and compensated after a restart, or the kills did not bite', () => {
    const repeated = bankFiles.reduce((sum, file) => sum + repeatedCalls(file), 0)
    const compensated = bankFiles.reduce((sum, file) => sum + compensationsAfterRestart(file), 0)
    process.stdout.write(
      `kills with ${unfinishedAtKill.join(', ')} sagas unfinished; ${repeated} calls repeated, ${compensated} compensations after a restart\n`,
    )
    expect(repeated).toBeGreaterThanOrEqual(20)
    expect(compensated).toBeGreaterThanOrEqual(5)
  })

  it('The server brought every saga to its end, by success, business failure, abort and deadline', () => {
    const statuses = [...views.values()].map(({ status }) => status)
    expect(statuses).toHaveLength(SAGAS)
    expect(new Set(statuses)).toEqual(new Set(['succeeded', 'failed']))
    const causes = new Set([...views.values()].flatMap(({ abort }) => abort?.cause ?? []))
    expect(causes).toEqual(new Set(['branch-failed', 'requested', 'deadline']))
    expect(client.aborts.accepted).toBeGreaterThan(0)
  })

  it('Each effect is there once where its saga succeeded, and undone where it failed', () => {
    const effects = new Map<string, number>()
    const key = ({ gid, branchId, op }: Effect) => `${gid}/${branchId}/${op}`
    for (const file of bankFiles) {
      for (const effect of readEffects(file)) effects.set(key(effect), (effects.get(key(effect)) ?? 0) + 1)
    }
    for (const { gid, status, branches } of views.values()) {
      for (const { id } of branches) {
        const actions = effects.get(`${gid}/${id}/action`) ?? 0
        const undone = effects.get(`${gid}/${id}/compensate`) ?? 0
        if (status === 'succeeded') expect([gid, id, actions, undone]).toEqual([gid, id, 1, 0])
        else expect([gid, id, actions - undone, actions <= 1]).toEqual([gid, id, 0, true])
      }
    }
  })

  it('The money is conserved', () => {
    const audits = bankFiles.map((file) => auditBank(file))
    const sum = (pick: (audit: (typeof audits)[number]) => number) =>
      audits.reduce((total, audit) => total + pick(audit), 0)
    expect(sum(({ balanceCents }) => balanceCents)).toBe(sum(({ initialCents }) => initialCents))
    for (const { wrongBalances, repeatedEffects, wrongOrders } of audits) {
      expect({ wrongBalances, repeatedEffects, wrongOrders }).toEqual({
        wrongBalances: [],
        repeatedEffects: [],
        wrongOrders: [],
      })
    }
  })
})
