import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readEnvironment } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  findMissingPython,
  INSTALL_TIMEOUT_MS,
  installPythonTool,
} from '../../../../infra/test/python-tool.ts'
import { startBranchService } from '../../../../packages/cli/test/branch-service.ts'
import { ServeProcess } from '../../../../packages/cli/test/serve-process.ts'
import { startForgetfulBank } from './forgetful-bank.ts'
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'
import { CALLER, toTree } from './span-tree.ts'
import { SOON, TracedBank } from './traced-process.ts'

/** The program scripts/trace-picture.ts draws what stands here after the test. */
const KEPT = join(import.meta.dirname, '../../../../.tmp/trace.json')
const ENDED_MS_MAX = 20_000
const ARRIVED_MS_MAX = 20_000

/** An instrumented bank adds these below the span of a call. */
const EXPRESS = (path: string) => [
  `      bank on express: POST ${path}`,
  '        bank on express: middleware - jsonParser',
  '        bank on express: request handler',
]
const FASTIFY = [
  '      bank on fastify: POST /move',
  '        bank on fastify: request',
  '          bank on fastify: handler - branchHandler',
]

/** Lists the decisions of the barriers, in the order of the spans. */
function listDecisions(spans: readonly ReceivedSpan[]): readonly string[] {
  return spans
    .flatMap(({ events }) => events.filter(({ name }) => name === 'counterstep.barrier'))
    .map((event) =>
      ['branch', 'op', 'decision'].map((attribute) => event[`counterstep.${attribute}`]).join(' '),
    )
}

const missing = findMissingPython()
describe.skipIf(missing !== undefined && !readEnvironment().isCi)('traces, at a receiver of OTLP', () => {
  let folder = ''
  let receiver: OtlpReceiver
  let express: TracedBank
  let fastify: TracedBank
  let server: ServeProcess
  let url = ''
  /** The trees that were seen, by their traces. */
  const trees = new Map<string, readonly string[]>()

  beforeAll(async () => {
    if (missing !== undefined) throw new Error(missing)
    folder = mkdtempSync(join(tmpdir(), 'counterstep-traces-'))
    receiver = await OtlpReceiver.start(
      installPythonTool('opentelemetry-proto', join(import.meta.dirname, 'requirements.txt')),
    )
    ;[express, fastify] = await Promise.all([
      TracedBank.start('express', receiver.url),
      TracedBank.start('fastify', receiver.url),
    ])
    await startServer()
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    await stopAll()
    await receiver?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Each process sends what it still has. */
  async function stopAll(): Promise<void> {
    server?.signal('SIGTERM')
    await Promise.all([server?.ended(), express?.stop(), fastify?.stop()])
  }

  async function startServer(): Promise<void> {
    const args = [
      'serve',
      '--ready-json',
      '--port',
      '0',
      '--data',
      join(folder, 'data'),
      '--lease-ms',
      '3000',
    ]
    server = new ServeProcess([...args, '--otlp', receiver.url], { ...SOON, OTEL_METRICS_EXPORTER: 'otlp' })
    url = await server.url()
  }

  async function post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.ok, await answer.text()).toBe(true)
  }

  async function read(gid: string): Promise<{ readonly status: string }> {
    return (await (await fetch(`${url}/v1/transactions/${gid}`)).json()) as { readonly status: string }
  }

  /** Waits for the spans of a trace, and returns them. */
  async function expectTree(traceId: string, tree: readonly string[]): Promise<readonly ReceivedSpan[]> {
    await expect.poll(() => toTree(receiver.spansOf(traceId)), { timeout: ARRIVED_MS_MAX }).toEqual(tree)
    trees.set(traceId, tree)
    return receiver.spansOf(traceId)
  }

  async function submit(body: object, waitSeconds = 20) {
    const traceId = randomBytes(16).toString('hex')
    const answer = await fetch(`${url}/v1/transactions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        prefer: `wait=${waitSeconds}`,
        traceparent: `00-${traceId}-${CALLER}-01`,
      },
      body: JSON.stringify(body),
    })
    return { traceId, view: (await answer.json()) as { readonly gid: string; readonly status: string } }
  }

  const leg = (bank: TracedBank, id: string, path: string, cents: number) => ({
    ...{ id, action: `${bank.url}${path}`, compensation: `${bank.url}/move`, payload: { cents } },
  })

  it('A saga that succeeds is one trace from its caller into both services', async () => {
    const branches = [leg(express, 'debit', '/move', -5), leg(fastify, 'credit', '/move', 5)]
    const { traceId, view } = await submit({ branches })
    expect(view.status).toBe('succeeded')
    const spans = await expectTree(traceId, [
      'counterstep: accept saga',
      '  counterstep: run saga',
      '    counterstep: action debit',
      ...EXPRESS('/move'),
      '    counterstep: action credit',
      ...FASTIFY,
      '    counterstep: save',
    ])
    expect(listDecisions(spans)).toEqual(['debit action run', 'credit action run'])
  })

  it('A saga that is compensated shows what failed, and each undo with what the barrier made of it', async () => {
    const branches = [leg(fastify, 'debit', '/move', -5), leg(express, 'credit', '/refuse', 5)]
    const { traceId, view } = await submit({ branches })
    expect(view.status).toBe('failed')
    const spans = await expectTree(traceId, [
      'counterstep: accept saga',
      '  counterstep: run saga',
      '    counterstep: action debit',
      ...FASTIFY,
      '    counterstep: action credit',
      ...EXPRESS('/refuse'),
      '    counterstep: save',
      '    counterstep: compensate credit',
      ...EXPRESS('/move'),
      '    counterstep: compensate debit',
      ...FASTIFY,
      '    counterstep: save',
    ])
    mkdirSync(dirname(KEPT), { recursive: true })
    writeFileSync(KEPT, JSON.stringify(spans))
    const failed = spans.filter(({ service, status }) => service === 'counterstep' && status === 'ERROR')
    expect(failed.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['action credit', '409'],
    ])
    expect(listDecisions(spans)).toEqual([
      'debit action run',
      'credit compensate null-compensation',
      'debit compensate run',
    ])
  })

  it('A saga whose server is killed goes on in the same trace on the one that takes it over', async () => {
    const bank = await startForgetfulBank()
    const branches = [{ id: 'debit', action: bank.url, compensation: bank.url }]
    const { traceId, view } = await submit({ branches }, 0)
    await bank.called
    await expectTree(traceId, ['counterstep: accept saga'])
    server.signal('SIGKILL')
    await server.ended()
    bank.remember()
    await startServer()
    await until('the saga has ended', ENDED_MS_MAX, async () => (await read(view.gid)).status === 'succeeded')
    const spans = await expectTree(traceId, [
      'counterstep: accept saga',
      '  counterstep: run saga',
      '    counterstep: claim',
      '    counterstep: action debit',
      '    counterstep: save',
    ])
    expect(spans.find(({ name }) => name === 'run saga')?.attributes).toMatchObject({
      'counterstep.epoch': 2,
    })
    bank.close()
  })

  it('A message whose sender is asked back is one trace, from the prepare to the delivery', async () => {
    const bank = await startBranchService()
    const { traceId, view } = await submit(
      {
        kind: 'message',
        branches: [{ id: 'ship', action: `${express.url}/move` }],
        check: { url: bank.url, afterMs: 1_000 },
      },
      0,
    )
    await until(
      'the message is delivered',
      ENDED_MS_MAX,
      async () => (await read(view.gid)).status === 'succeeded',
    )
    await expectTree(traceId, [
      'counterstep: accept message',
      '  counterstep: run message',
      '    counterstep: claim',
      '    counterstep: msg 00',
      '    counterstep: save',
      '    counterstep: action ship',
      ...EXPRESS('/move'),
      '    counterstep: save',
    ])
    bank.close()
  })

  it('A TCC is one trace, from the begin to the confirm of each branch', async () => {
    const { traceId, view } = await submit({ kind: 'tcc', deadlineMs: 60_000 }, 0)
    for (const [id, bank] of [
      ['hotel', express],
      ['flight', fastify],
    ] as const) {
      const branch = { id, confirm: `${bank.url}/move`, cancel: `${bank.url}/move`, payload: { cents: 1 } }
      await post(`/v1/transactions/${view.gid}/branches`, branch)
    }
    await post(`/v1/transactions/${view.gid}/submit`, {})
    await until(
      'the TCC is confirmed',
      ENDED_MS_MAX,
      async () => (await read(view.gid)).status === 'succeeded',
    )
    await expectTree(traceId, [
      'counterstep: accept tcc',
      '  counterstep: run tcc',
      '    counterstep: claim',
      '    counterstep: confirm flight',
      ...FASTIFY,
      '    counterstep: confirm hotel',
      ...EXPRESS('/move'),
      '    counterstep: save',
    ])
  })

  it('No trace gets another span when all processes stop, and the metrics come, too', async () => {
    await stopAll()
    for (const [traceId, tree] of trees) expect(toTree(receiver.spansOf(traceId))).toEqual(tree)
    const { resource } = receiver.spans.find(({ service }) => service === 'counterstep') ?? { resource: {} }
    // The arguments of a process may have a password.
    expect(Object.keys(resource).filter((name) => name.startsWith('process.'))).toEqual([])
    expect(resource).toMatchObject({
      'service.version': expect.any(String),
      'service.instance.id': expect.any(String),
    })
    const metrics = new Map(receiver.metrics.map((metric) => [metric.name, metric]))
    expect(metrics.get('counterstep_transactions_accepted_total')).toMatchObject({
      kind: 'sum',
      points: expect.arrayContaining(
        ['message', 'tcc'].map((kind) => expect.objectContaining({ attributes: { kind }, value: 1 })),
      ),
    })
    expect(metrics.get('counterstep_transaction_duration_seconds')).toMatchObject({
      kind: 'histogram',
      unit: 's',
    })
    expect(metrics.get('counterstep_ready')).toMatchObject({ kind: 'gauge' })
  })
})
