import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Gid } from '@counterstep/protocol'
import { collectGarbage } from '@counterstep/test-servers/collect-garbage'
import { expect, it, onTestFinished } from 'vitest'
import { openGrpcFixture } from './support/grpc-fixture.ts'
import { openCall, openSession, serializeSubmit, toMessage } from './support/raw-call.ts'

const WAITING = 20
const MIB = 1024 * 1024

function readHeldMib(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / MIB
}

it('S41: A call that waits for the end does not hold its message', async () => {
  await using fixture = await openGrpcFixture()
  const service = createServer()
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  onTestFinished(() => void service.close())
  const { port } = service.address() as AddressInfo
  const session = openSession(fixture)
  await once(session, 'remoteSettings')
  const gids = Array.from({ length: WAITING }, (_, n) => `waiting-${n}` as Gid)
  const messages = gids.map((gid) => buildSubmit(gid, `127.0.0.1:${port}/bank.Bank/Debit`))
  const before = readHeldMib()
  for (const message of messages) openCall(session, message).stream.end()
  const countRunning = async () => {
    const views = await Promise.all(gids.map((gid) => fixture.engine.get(gid)))
    return views.filter((view) => view?.status === 'submitted').length
  }
  await expect.poll(countRunning, { timeout: 30_000, interval: 50 }).toBe(WAITING)
  // V8 may free the bytes soon after it has found that nothing holds them.
  await expect.poll(() => readHeldMib() - before, { timeout: 10_000, interval: 100 }).toBeLessThan(8)
})

/** Builds a packed message of 900 KB, most of which nothing reads. The client holds few bytes of it. */
function buildSubmit(gid: string, action: string): Buffer {
  const content = serializeSubmit({
    Gid: gid,
    TransType: 'saga',
    TransOptions: { WaitResult: true, RequestTimeout: '60' },
    BinPayloads: [Buffer.from('a')],
    Steps: JSON.stringify([{ action, unread: 'x'.repeat(900_000) }]),
  })
  return toMessage(gzipSync(content), 1)
}
