import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { Gid } from '@counterstep/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { DEFINITION, openGrpcFixture } from './support/grpc-fixture.ts'

const WAITING = 20
const MIB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

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
  const session = connect(`http://${fixture.address}`).on('error', () => undefined)
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  const gids = Array.from({ length: WAITING }, (_, n) => `waiting-${n}` as Gid)
  const messages = gids.map((gid) => buildSubmit(gid, `127.0.0.1:${port}/bank.Bank/Debit`))
  const before = readHeldMib()
  for (const message of messages) send(session, message)
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
  const { Submit } = DEFINITION['dtmgimp.Dtm'] as unknown as Readonly<
    Record<string, { readonly requestSerialize: (value: object) => Buffer }>
  >
  if (Submit === undefined) throw new Error('the service has no Submit')
  const content = Submit.requestSerialize({
    Gid: gid,
    TransType: 'saga',
    TransOptions: { WaitResult: true, RequestTimeout: '60' },
    BinPayloads: [Buffer.from('a')],
    Steps: JSON.stringify([{ action, unread: 'x'.repeat(900_000) }]),
  })
  const packed = gzipSync(content)
  const head = Buffer.alloc(5)
  head.writeUInt8(1, 0)
  head.writeUInt32BE(packed.length, 1)
  return Buffer.concat([head, packed])
}

function send(session: ClientHttp2Session, message: Buffer): void {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/dtmgimp.Dtm/Submit',
    'content-type': 'application/grpc',
    'grpc-encoding': 'gzip',
    te: 'trailers',
  })
  stream.on('error', () => undefined).resume()
  stream.end(message)
}
