import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startGrpcBranch } from '../src/harness/branch.ts'
import { Harness } from '../src/harness/harness.ts'
import type { GrpcLoadJob } from '../src/load/grpc-load-job.ts'
import { encodeField, encodeTrue } from '../src/load/protobuf.ts'
import { runGrpcLoad } from '../src/load/run-grpc-load.ts'
import { SMOKE_MS_MAX } from './smoke.ts'

const JOB: Omit<GrpcLoadJob, 'address'> = {
  method: '/bench.Branch/Action1',
  fields: encodeField(2, 'saga').toString('base64'),
  uniqueField: 1,
  unique: 'u',
  connections: 6,
  length: { type: 'time', warmUpSeconds: 0.05, seconds: 0.2 },
}

describe('the load over gRPC', () => {
  let server: Http2Server | undefined

  afterEach(() => void server?.close())

  async function serve(onCall: (stream: ServerHttp2Stream, body: Buffer) => void): Promise<string> {
    server = createServer()
    server.on('stream', (stream: ServerHttp2Stream) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => onCall(stream, Buffer.concat(chunks)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('Each answer of a branch over gRPC is counted on both sides', { timeout: SMOKE_MS_MAX }, async () => {
    const harness = new Harness()
    try {
      const branch = await startGrpcBranch(harness)
      const { answers, faults, latencyMs } = await harness.load({ ...JOB, address: new URL(branch.url).host })
      expect(answers).toBeGreaterThan(0)
      expect(await branch.callCount()).toBe(answers)
      expect(faults).toEqual({ connectionErrors: 0, timeouts: 0, otherStatus: 0, otherBody: 0 })
      expect(latencyMs.p99).toBeGreaterThanOrEqual(latencyMs.p50)
    } finally {
      await harness.close()
    }
  })

  it('Each message is a frame with a text of its own and the fields of all, and a failed call is a fault', async () => {
    const bodies: Buffer[] = []
    const address = await serve((stream, body) => {
      bodies.push(body)
      const head = { ':status': 200, 'grpc-status': '10', 'grpc-message': 'FAILURE' }
      stream.respond(head, { endStream: true })
    })
    const { answers, faults, unexpected } = await runGrpcLoad({ ...JOB, address })
    expect(faults.otherStatus).toBe(answers)
    expect(unexpected).toBe('grpc-status 10: FAILURE')
    expect(new Set(bodies.map(String)).size).toBe(answers)
    const message = Buffer.concat([encodeField(1, 'u-1-1'), encodeField(2, 'saga')])
    const head = Buffer.from([0, 0, 0, 0, message.length])
    expect(bodies.map((body) => body.toString('hex'))).toContain(
      Buffer.concat([head, message]).toString('hex'),
    )
  })

  it('A caller stops when its call has ended without a status', async () => {
    const address = await serve((stream) => stream.close())
    const { answers, faults } = await runGrpcLoad({ ...JOB, address })
    expect(answers).toBe(0)
    expect(faults.connectionErrors).toBe(JOB.connections)
  })
})

describe('fields of protobuf', () => {
  it('A field has its number, its length and its bytes, and a long length takes two bytes', () => {
    expect(encodeField(7, 'ab').toString('hex')).toBe('3a026162')
    expect(encodeField(3, encodeTrue(1)).toString('hex')).toBe('1a020801')
    expect(encodeField(1, 'x'.repeat(300)).subarray(0, 3).toString('hex')).toBe('0aac02')
  })
})
