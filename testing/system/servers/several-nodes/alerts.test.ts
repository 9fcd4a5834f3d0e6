import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALERT_NAME, type AlertBody, type SubmitRequest } from '@counterstep/protocol'
import { signedCallCheck } from '@counterstep/sdk/signatures'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { until } from '@counterstep/test-servers/until'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storeCalls } from './metrics.ts'
import { submit } from './node-client.ts'
import { NodeProcess } from './node-process.ts'
import { type OwnStore, ownStore } from './own-store.ts'

const NODES = 3
/** A compensation needs a person after ten failures, and is called once a second by then. */
const ALERT_MS_MAX = 60_000
const LOOKS_MS_MAX = 60_000
/** A node reads documents for alerts, for bulk jobs and for its fellows: among so many reads it has looked for alerts. */
const READS = 6
/** It stands in the path of the webhook, as in those of Slack. */
const SECRET = 'T0Qm9vbQsecretB0'

interface Arrived {
  readonly path: string
  readonly gid: string
  readonly verdict: string
  readonly body: AlertBody
}

/** Receives webhooks, and checks the signature of each by the SDK. */
class Receiver {
  readonly arrived: Arrived[] = []
  readonly #server: Server
  #check: ReturnType<typeof signedCallCheck> | undefined

  constructor() {
    this.#server = createServer(async (request, response) => {
      const body = await readBytes(request)
      const { method = '', url: path = '', headers } = request
      const refused = this.#check?.({ method, url: path, headers, body })
      const verdict = refused === undefined ? 'signed' : String(refused.error)
      const gid = String(headers['counterstep-gid'])
      this.arrived.push({ path, gid, verdict, body: JSON.parse(body.toString()) as AlertBody })
      response.end()
    })
  }

  async listen(): Promise<string> {
    return await listen(this.#server)
  }

  trust(publicKey: string, baseUrl: string): void {
    this.#check = signedCallCheck({ keys: [publicKey], baseUrl })
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Reads all that a database holds, as one text. */
async function dump(url: string): Promise<string> {
  const connection = await createConnection(url)
  try {
    const [tables] = await connection.query<RowDataPacket[]>({ sql: 'SHOW TABLES', rowsAsArray: true })
    let text = ''
    for (const [table] of tables as unknown as readonly (readonly [string])[]) {
      const [rows] = await connection.query<RowDataPacket[]>({
        sql: `SELECT * FROM ${table}`,
        rowsAsArray: true,
      })
      for (const row of rows as unknown as readonly (readonly unknown[])[])
        for (const value of row)
          text += Buffer.isBuffer(value) ? value.toString('latin1') : `${JSON.stringify(value)}\n`
    }
    return text
  } finally {
    await connection.end()
  }
}

function buildSaga(gid: string, bank: string, undo: string): SubmitRequest {
  const branch = (id: string, action: string) => ({
    id,
    action: bank + action,
    compensation: bank + undo,
    payload: { iban: 'DE02120300000000202051' },
  })
  return {
    gid,
    name: 'transfer',
    branches: [branch('debit', '/ok'), branch('credit', '/no')],
    retry: { initialMs: 10, capMs: 1_000 },
  }
}

describeOn('mariadb', `alerts of ${NODES} nodes`, (storeUrl) => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-alerts-'))
  const receiver = new Receiver()
  /** It does all actions of a path, and answers 500 to all compensations. */
  const bank = createServer((request, response) => {
    request.resume()
    const path = request.url ?? ''
    response.statusCode = path.startsWith('/ok') ? 200 : path.startsWith('/no') ? 409 : 500
    response.end('{"error":"lock wait timeout"}')
  })
  const nodes: NodeProcess[] = []
  let store: OwnStore
  let bankUrl: string
  let hookUrl: string
  let alertsFile: string
  let keyFile: string

  beforeAll(async () => {
    store = await ownStore(storeUrl)
    bankUrl = await listen(bank)
    hookUrl = await receiver.listen()
    keyFile = join(folder, 'key.pem')
    alertsFile = join(folder, 'alerts.json')
    const made = spawnSync(
      process.execPath,
      [COUNTERSTEP_PROGRAM, 'signing-key', 'create', '--out', keyFile],
      {
        encoding: 'utf8',
      },
    )
    receiver.trust(made.stdout.trim(), hookUrl)
    const file = {
      consoleUrl: 'https://counterstep.example',
      targets: [{ name: 'ops', url: `${hookUrl}/services/${SECRET}`, rules: ['attention'] }],
    }
    writeFileSync(alertsFile, JSON.stringify(file), { mode: 0o600 })
    const flags = {
      store: store.url,
      services: `bank-a=${bankUrl},bank-b=${bankUrl}`,
      'alerts-file': alertsFile,
      'signing-key-file': keyFile,
      'log-level': 'info',
    }
    // The first one makes the tables.
    nodes.push(await NodeProcess.start(flags))
    nodes.push(...(await Promise.all(Array.from({ length: NODES - 1 }, () => NodeProcess.start(flags)))))
  })

  afterAll(async () => {
    for (const node of nodes) if (node.isAlive) await node.stop()
    receiver.close()
    bank.closeAllConnections()
    bank.close()
    await store.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function untilEachHasLooked(): Promise<void> {
    const looks = nodes.map(async ({ url }) => {
      const before = await storeCalls(url, 'read-documents', 'ok')
      const enough = async () => (await storeCalls(url, 'read-documents', 'ok')) >= before + READS
      await until('each node has looked for alerts', LOOKS_MS_MAX, enough)
    })
    await Promise.all(looks)
  }

  it('S31: A bank that answers 500 brings one signed webhook, once though three nodes saw it', async () => {
    const [first, second] = nodes.map(({ url }) => url)
    expect(await submit(first ?? '', buildSaga('order-1', 'bank-a:', '/undo'))).toMatchObject({
      type: 'view',
    })
    await until('a webhook comes', ALERT_MS_MAX, () => receiver.arrived.length > 0)
    await untilEachHasLooked()
    expect(receiver.arrived).toEqual([
      {
        path: `/services/${SECRET}`,
        gid: expect.stringMatching(/^alert-attention-[0-9a-f]{16}-\d+$/),
        verdict: 'signed',
        body: {
          rule: 'attention',
          state: 'open',
          problem: 'bank-a compensate 500',
          count: 1,
          since: expect.any(Number),
          names: ['transfer'],
          sampleGids: ['order-1'],
          headline: expect.stringContaining('1 transaction needs a person. bank-a answers 500'),
          advice: expect.any(String),
          link: 'https://counterstep.example/console/#/problems?problem=bank-a%20compensate%20500',
        },
      },
    ])
    const overview = (await (await fetch(`${second}/v1/overview`)).json()) as { readonly attention: number }
    expect(overview.attention).toBe(1)
    // The same bank under another name is another problem, and the first one is not told again with it.
    await submit(second ?? '', buildSaga('order-2', 'bank-b:', '/undo'))
    await until('its webhook comes', ALERT_MS_MAX, () => receiver.arrived.length > 1)
    expect(receiver.arrived.map(({ body }) => body.problem)).toEqual([
      'bank-a compensate 500',
      'bank-b compensate 500',
    ])
  }, 180_000)

  it('S31: The secret URL is in no row, answer, log and metric, and no payload and no answer is in an alert', async () => {
    const [node] = nodes as [NodeProcess]
    const list = (await (await fetch(`${node.url}/v1/transactions?name=${ALERT_NAME}`)).json()) as {
      readonly items: readonly { readonly gid: string }[]
    }
    expect(list.items).toHaveLength(2)
    const [{ gid }] = list.items as [{ readonly gid: string }]
    const answers = [
      '/metrics',
      '/v1/overview',
      '/v1/services',
      '/v1/names',
      '/v1/panels/settings',
      `/v1/transactions/${gid}`,
      `/v1/transactions/${gid}/request`,
    ]
    let texts = await dump(store.url)
    // The content of the rows is found in this text, so that a secret in them would be found.
    expect(texts).toContain('alert-ops:/')
    expect(texts).toContain('DE02120300000000202051')
    for (const path of answers) texts += await (await fetch(node.url + path)).text()
    for (const { log } of nodes) texts += log.join('\n')
    for (const seen of ['alert-sent', 'service="alert-ops"']) expect(texts).toContain(seen)
    expect(texts).not.toContain(SECRET)
    const bodies = JSON.stringify(receiver.arrived)
    expect(bodies).not.toContain('DE02120300000000202051')
    expect(bodies).not.toContain('lock wait timeout')
  })

  it('S31: No request may name the webhook, so that nobody writes there in the name of the server', async () => {
    const [node] = nodes as [NodeProcess]
    const saga = { branches: [{ id: 'a', action: 'alert-ops:/', compensation: 'alert-ops:/' }] }
    expect(await submit(node.url, saga)).toMatchObject({ status: 422, code: 'SAGA_TARGET_NOT_ALLOWED' })
    expect(
      await submit(node.url, { ...buildSaga('order-3', 'bank-a:', '/undo'), name: ALERT_NAME }),
    ).toMatchObject({
      status: 422,
      code: 'SAGA_NAME_INVALID',
    })
  })

  it('S31: The command alerts test sends one, signed, without a server', async () => {
    const before = receiver.arrived.length
    const args = ['alerts', 'test', 'ops', '--alerts-file', alertsFile, '--signing-key-file', keyFile]
    const { code, stdout, stderr } = await run(args)
    expect([code, stdout, stderr]).toEqual([0, 'ops has taken the test (200, signed).\n', ''])
    expect(receiver.arrived.slice(before)).toEqual([
      expect.objectContaining({
        path: `/services/${SECRET}`,
        verdict: 'signed',
        body: expect.objectContaining({ rule: 'test' }),
      }),
    ])
    receiver.close()
    const failed = await run(args)
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([
      1,
      '',
      'counterstep: ops has not taken the test: refused. Only the status 200 counts.\n',
    ])
  })
})

/** Runs the command beside this process, which answers its call meanwhile. */
async function run(args: readonly string[]) {
  const child = spawn(process.execPath, [COUNTERSTEP_PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      texts[name] += chunk.toString()
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...texts }
}
