// Run by hand: node packages/store-redis/test/measure-rate.ts redis://127.0.0.1:6379 [callers] [seconds]
// It creates and finishes sagas of two branches, and prints the rate of one process.

import { randomUUID } from 'node:crypto'
import type { Gid } from '@counterstep/protocol'
import { openRedisStore } from '../src/open-redis-store.ts'

const [url = 'redis://127.0.0.1:6379', callers = '64', seconds = '3'] = process.argv.slice(2)
const store = await openRedisStore({ url, keyPrefix: `measure-${randomUUID()}` })
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
const latenciesMs: number[] = []
let sagas = 0

async function runSagas(): Promise<void> {
  while (performance.now() < endAt) {
    const gid = randomUUID() as Gid
    const token = gid.replaceAll('-', '')
    const startAt = performance.now()
    await store.create({
      ...{ gid, kind: 'saga', status: 'submitted', format: 1, digest: token + token, definition, progress },
      ...{ token, writeId: token, hold: { type: 'owned', leaseMs: 10_000 }, sentList: 'held' },
    })
    latenciesMs.push(performance.now() - startAt)
    await store.update({
      ...{ gid, token, version: 1, writeId: `${sagas}`, status: 'succeeded', format: 1, progress },
      ...{ retrying: false, attention: false, hold: { type: 'finish', retentionMs: 60_000 } },
    })
    sagas += 1
  }
}

const startAt = performance.now()
const cpu = process.cpuUsage()
await Promise.all(Array.from({ length: Number(callers) }, runSagas))
const tookMs = performance.now() - startAt
const used = process.cpuUsage(cpu)
latenciesMs.sort((a, b) => a - b)
console.log({
  server: url.split(':', 1)[0],
  durabilityClass: store.durabilityClass,
  callers: Number(callers),
  sagasPerSecond: Math.round((sagas / tookMs) * 1_000),
  writesPerSecond: Math.round(((2 * sagas) / tookMs) * 1_000),
  createP50Ms: Math.round((latenciesMs[Math.floor(latenciesMs.length / 2)] ?? 0) * 100) / 100,
  createP99Ms: Math.round((latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0) * 100) / 100,
  cpuMicrosecondsPerWrite: Math.round(((used.user + used.system) / (2 * sagas)) * 10) / 10,
})
await store.close()
