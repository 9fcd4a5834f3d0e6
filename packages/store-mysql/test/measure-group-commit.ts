// Run by hand: node packages/store-mysql/test/measure-group-commit.ts URL [callers] [seconds] [flushes] [patienceMs] [thinkMs]
// URL is a server's, for a user who may make databases; no database is left behind. thinkMs is the longest pause between
// the two writes of a saga, in the place of its branch calls. Without it all callers run in step.

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Gid } from '@counterstep/protocol'
import mysql from 'mysql2/promise'
import { openMysqlStore } from '../src/open-mysql-store.ts'

const [server = '', callers = '64', seconds = '3', flushes = '3', patienceMs = '20', thinkMs = '0'] =
  process.argv.slice(2)
const name = `cs_measure_${randomBytes(4).toString('hex')}`
const root = await mysql.createConnection({ uri: server, rowsAsArray: true })
await root.query(`CREATE DATABASE ${name}`)
const url = new URL(server)
url.pathname = `/${name}`
const store = await openMysqlStore({
  url: url.href,
  flushesInFlightMax: Number(flushes),
  flushPatienceMs: Number(patienceMs),
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
    const row = { gid, format: 1, progress, token } as const
    await store.create({
      ...row,
      ...{ kind: 'saga', status: 'submitted', digest: token + token, definition, writeId: token },
      ...{ hold: { type: 'owned', leaseMs: 10_000 }, sentList: 'held' },
    })
    if (Number(thinkMs) > 0) await delay(Math.random() * Number(thinkMs))
    await store.update({
      ...row,
      ...{ version: 1, writeId: `${sagas}`, status: 'succeeded', retrying: false, attention: false },
      hold: { type: 'finish', retentionMs: 604_800_000 },
    })
    sagas += 1
  }
}

async function statements(): Promise<number> {
  const [rows] = await root.query("SHOW GLOBAL STATUS LIKE 'Questions'")
  return Number((rows as string[][])[0]?.[1])
}

const questions = await statements()
const startAt = performance.now()
const cpu = process.cpuUsage()
const loop = performance.eventLoopUtilization()
await Promise.all(Array.from({ length: Number(callers) }, runSagas))
const tookMs = performance.now() - startAt
const used = process.cpuUsage(cpu)
const { commits, rows, retries } = store.counters()
console.log({
  callers: Number(callers),
  flushesInFlightMax: Number(flushes),
  rowsPerSecond: Math.round((rows / tookMs) * 1_000),
  rowsPerCommit: Math.round((rows / commits) * 10) / 10,
  statementsPerCommit: Math.round((((await statements()) - questions) / commits) * 10) / 10,
  retries,
  mainThreadBusy: Math.round(performance.eventLoopUtilization(loop).utilization * 100) / 100,
  cpuMicrosecondsPerRow: Math.round(((used.user + used.system) / rows) * 10) / 10,
})
await store.close()
await root.query(`DROP DATABASE ${name}`)
await root.end()
