// Run by hand: node packages/store-sqlite/test/measure-group-commit.ts [callers] [seconds] [synchronous]

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Gid } from '@counterstep/protocol'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const [callers = '64', seconds = '3', synchronous = 'FULL'] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'counterstep-'))
const store = await openSqliteStore({
  path: join(folder, 'store.db'),
  synchronous: synchronous === 'NORMAL' ? 'NORMAL' : 'FULL',
})
const definition = JSON.stringify({
  branches: ['out', 'in'].map((id) => ({
    id,
    action: `http://10.0.0.1:8080/transfer-${id}`,
    compensation: `http://10.0.0.1:8080/transfer-${id}-undo`,
    payload: { amount: 30, account: 7 },
  })),
})
const progress = JSON.stringify({ branches: [1, 1], attempts: [1, 1] })
const endAt = performance.now() + Number(seconds) * 1_000
let sagas = 0

async function runSagas(): Promise<void> {
  while (performance.now() < endAt) {
    const gid = randomUUID() as Gid
    const token = gid.replaceAll('-', '')
    await store.create({
      ...{
        gid,
        kind: 'saga',
        status: 'submitted',
        format: 1,
        digest: token + token,
        definition,
        progress,
        token,
      },
      ...{ writeId: token, hold: { type: 'owned', leaseMs: 10_000 }, sentList: 'held' },
    })
    const finish = { type: 'finish', retentionMs: 604_800_000 } as const
    await store.update({
      ...{
        gid,
        token,
        version: 1,
        writeId: `${sagas}`,
        status: 'succeeded',
        format: 1,
        progress,
        hold: finish,
      },
      ...{ retrying: false, attention: false },
    })
    sagas += 1
  }
}

const startAt = performance.now()
const cpu = process.cpuUsage()
const loop = performance.eventLoopUtilization()
await Promise.all(Array.from({ length: Number(callers) }, runSagas))
const tookMs = performance.now() - startAt
const used = process.cpuUsage(cpu)
const { commits, rows } = store.counters()
console.log({
  callers: Number(callers),
  synchronous,
  rowsPerSecond: Math.round((rows / tookMs) * 1_000),
  rowsPerCommit: Math.round((rows / commits) * 10) / 10,
  mainThreadBusy: Math.round(performance.eventLoopUtilization(loop).utilization * 100) / 100,
  cpuMicrosecondsPerRow: Math.round(((used.user + used.system) / rows) * 10) / 10,
})
await store.close()
await rm(folder, { recursive: true })
