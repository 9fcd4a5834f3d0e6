import { once } from 'node:events'
import { isGrpcUrl } from '@counterstep/protocol'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { Client, credentials } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DEFINITION, type GrpcFixture, openGrpcFixture } from './support/grpc-fixture.ts'
import { GrpcService } from './support/grpc-service.ts'

const DAY_MS = 24 * 3_600_000
const bytes = (value: Buffer) => value

function openPlainClient({ address }: GrpcFixture): Client {
  const client = new Client(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  return client
}

/** Encodes one field of a message that is a text. */
function encodeText(field: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2, text.length]), Buffer.from(text)])
}

describe('the gRPC API', () => {
  it('With a certificate it speaks TLS, and no plain text', async () => {
    const tls = selfSignedCertificate({
      validFrom: new Date(Date.now() - DAY_MS),
      validTo: new Date(Date.now() + DAY_MS),
      address: '127.0.0.1',
    })
    await using fixture = await openGrpcFixture({ tls })
    using secure = fixture.openClient(credentials.createSsl(Buffer.from(tls.cert)))
    expect(await secure.call('NewGid', {})).toMatchObject({ code: 0 })
    using plain = fixture.openClient()
    expect(await plain.call('NewGid', {})).toMatchObject({ code: 14 })
  })

  it('Reflection lists the service and shows its messages', async () => {
    await using fixture = await openGrpcFixture()
    const client = openPlainClient(fixture)
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
    const stream = client.makeBidiStreamRequest(path, bytes, bytes)
    // The seventh field of the request asks for the services, and the fourth one for the file of a name.
    stream.write(encodeText(7, ''))
    const [services] = (await once(stream, 'data')) as [Buffer]
    expect(services.toString('latin1')).toContain('dtmgimp.Dtm')
    stream.write(encodeText(4, 'dtmgimp.DtmRequest'))
    const [file] = (await once(stream, 'data')) as [Buffer]
    for (const name of ['DtmRequest', 'BinPayloads', 'PrepareWorkflow'])
      expect(file.toString('latin1')).toContain(name)
    stream.end()
  })

  it('Who watches the health is told when the server stops', async () => {
    await using fixture = await openGrpcFixture()
    const { Watch } = DEFINITION['grpc.health.v1.Health'] as unknown as Record<
      string,
      {
        readonly requestSerialize: (value: object) => Buffer
        readonly responseDeserialize: (value: Buffer) => object
      }
    >
    if (Watch === undefined) throw new Error('no such method')
    const watching = openPlainClient(fixture).makeServerStreamRequest(
      '/grpc.health.v1.Health/Watch',
      Watch.requestSerialize,
      Watch.responseDeserialize,
      { service: '' },
    )
    const seen: unknown[] = []
    watching.on('data', (reply) => seen.push(reply))
    await expect.poll(() => seen).toEqual([{ status: 'SERVING' }])
    const ended = once(watching, 'end')
    await fixture.stop()
    await ended
    expect(seen).toEqual([{ status: 'SERVING' }, { status: 'NOT_SERVING' }])
  })

  it('A call that is under way when the server stops gets its answer', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(['Credit'], { Credit: [{ hangs: true }] })
    const call = fixture.client.call('Submit', {
      Gid: 'g-1',
      TransType: 'msg',
      TransOptions: { WaitResult: true, RequestTimeout: '1' },
      Steps: JSON.stringify([{ action: service.target('Credit') }]),
      BinPayloads: [Buffer.from('30')],
    })
    await service.waitForCalls(1)
    await fixture.stop()
    expect(await call).toMatchObject({ code: 9 })
  })

  it('Each connection counts among those of the HTTP APIs until it closes', async () => {
    await using fixture = await openGrpcFixture()
    {
      using client = fixture.openClient()
      await client.call('NewGid', {})
      expect(fixture.bounds.held.connections).toBe(1)
    }
    await expect.poll(() => fixture.bounds.held.connections).toBe(0)
  })

  it('A transaction over gRPC is shown with URLs that say how they are called', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(['Credit'])
    await fixture.client.call('Submit', {
      Gid: 'g-2',
      TransType: 'saga',
      TransOptions: { WaitResult: true },
      Steps: JSON.stringify([{ action: service.target('Credit'), compensate: '' }]),
      BinPayloads: [Buffer.from('30')],
    })
    const view = await fixture.untilEnd('g-2')
    expect(isGrpcUrl(view.branches[0]?.ops.find(({ op }) => op === 'action')?.url ?? '')).toBe(true)
  })
})
