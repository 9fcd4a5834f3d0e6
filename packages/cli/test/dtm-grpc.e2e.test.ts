import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { Client, credentials, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { ServeProcess } from './serve-process.ts'

const bytes = (value: Buffer) => value
const DAY_MS = 24 * 3_600_000

interface Urls {
  readonly dtmUrl: string
  readonly dtmGrpcUrl: string
}

async function start(...more: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'dtm-grpc-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const ports = ['--dtm-port', '0', '--dtm-grpc-port', '0']
  const { process } = await ServeProcess.listening(folder, ...ports, ...more)
  const line = process.stdout.find((each) => each.startsWith('{"url":')) ?? '{}'
  return { process, urls: JSON.parse(line) as Urls }
}

/** Asks for a gid, and returns the code of the answer with the bytes of the reply. */
function askForGid(client: Client): Promise<{ readonly code: number; readonly reply: string }> {
  return new Promise((resolve) =>
    client.makeUnaryRequest('/dtmgimp.Dtm/NewGid', bytes, bytes, Buffer.alloc(0), (error, reply) =>
      resolve({ code: error?.code ?? 0, reply: reply?.toString() ?? '' }),
    ),
  )
}

async function serveBranch(): Promise<{ readonly target: string; readonly bodies: string[] }> {
  const server = new Server()
  const bodies: string[] = []
  const method = {
    path: '/bank.Bank/Credit',
    ...{ requestStream: false, responseStream: false },
    ...{
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  }
  const service: ServiceDefinition = { Credit: method }
  server.addService(service, {
    Credit: (call: { readonly request: Buffer }, callback: (error: null, reply: Buffer) => void) => {
      bodies.push(call.request.toString())
      callback(null, Buffer.alloc(0))
    },
  })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  onTestFinished(() => server.forceShutdown())
  return { target: `127.0.0.1:${port}/bank.Bank/Credit`, bodies }
}

it("A server speaks DTM's gRPC on a port of its own, and a signal stops it while a client watches its health", async () => {
  const { process, urls } = await start('--accept-new-kinds')
  const client = new Client(urls.dtmGrpcUrl.replace('grpc://', ''), credentials.createInsecure())
  onTestFinished(() => client.close())
  expect(await askForGid(client)).toEqual({ code: 0, reply: expect.stringMatching(/[2-9A-Za-z]{22}$/) })
  const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', bytes, bytes, Buffer.alloc(0))
  const seen: string[] = []
  watch.on('data', (reply: Buffer) => seen.push(reply.toString('hex')))
  watch.on('error', () => undefined)
  await expect.poll(() => seen).toEqual(['0801'])
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
  expect(seen).toEqual(['0801', '0802'])
  expect(await askForGid(client)).toMatchObject({ code: 14 })
})

it('A request over HTTP may name a branch over gRPC, which the views show as it was written', async () => {
  const { process, urls } = await start('--accept-new-kinds')
  const branch = await serveBranch()
  const submitted = await fetch(`${urls.dtmUrl}/api/dtmsvr/submit`, {
    method: 'POST',
    body: JSON.stringify({
      gid: 'g-1',
      trans_type: 'saga',
      protocol: 'grpc',
      steps: [{ action: branch.target, compensate: '' }],
      payloads: ['thirty'],
      wait_result: true,
    }),
  })
  expect(await submitted.text()).toBe('{"dtm_result":"SUCCESS"}')
  expect(branch.bodies).toEqual(['thirty'])
  const shown = (await (await fetch(`${urls.dtmUrl}/api/dtmsvr/query?gid=g-1`)).json()) as {
    readonly branches: readonly object[]
  }
  expect(shown.branches[1]).toMatchObject({
    url: branch.target,
    bin_data: Buffer.from('thirty').toString('base64'),
    status: 'succeed',
  })
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})

it('Without --accept-new-kinds a branch over gRPC is refused, and the log says so at the start', async () => {
  const { process, urls } = await start()
  const submitted = await fetch(`${urls.dtmUrl}/api/dtmsvr/submit`, {
    method: 'POST',
    body: JSON.stringify({
      gid: 'g-1',
      trans_type: 'saga',
      protocol: 'grpc',
      steps: [{ action: '127.0.0.1:1/bank.Bank/Credit' }],
      payloads: [''],
    }),
  })
  expect(submitted.status).toBe(501)
  expect(process.output).toContain('--dtm-grpc-port without --accept-new-kinds')
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})

it('A certificate and its key make the gRPC API speak TLS', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dtm-grpc-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { cert, key } = selfSignedCertificate({
    validFrom: new Date(Date.now() - DAY_MS),
    validTo: new Date(Date.now() + DAY_MS),
    address: '127.0.0.1',
  })
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await writeFile(certFile, cert)
  await writeFile(keyFile, key, { mode: 0o600 })
  const { process, urls } = await start('--dtm-grpc-cert', certFile, '--dtm-grpc-key', keyFile)
  expect(urls.dtmGrpcUrl).toMatch(/^grpcs:/)
  const client = new Client(urls.dtmGrpcUrl.replace('grpcs://', ''), credentials.createSsl(Buffer.from(cert)))
  onTestFinished(() => client.close())
  expect(await askForGid(client)).toMatchObject({ code: 0 })
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})
