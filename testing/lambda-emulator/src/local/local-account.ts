import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startElasticmq, startRedis } from '@counterstep/test-servers'
import { buildBundles } from '../build-bundles.ts'
import { startHttpFront } from '../http/http-front.ts'
import { installRuntimeClient } from '../install-runtime-client.ts'
import { startFunction } from '../lambda-function.ts'
import { startSchedule } from '../schedule.ts'
import { startSqsEventSource } from '../sqs/event-source.ts'
import { createQueue } from '../sqs/queue.ts'
import { startDemoService } from './demo-service.ts'

/** These are the values of the template. */
const API_TIMEOUT_MS = 29_000
const WORKER_TIMEOUT_MS = 120_000
const SWEEPER_TIMEOUT_MS = 60_000
const SWEEP_EVERY_MS = 60_000
const BATCH_SIZE_MAX = 10
const CONCURRENCY = 4
const QUICK_CALL_MS = 2_000
const MEMORY_MB = 512
/** The start may take long, because all environments share the processors of this machine. */
const INIT_MS_MAX = 60_000

export interface LocalAccountOptions {
  /**
   * The services have the form of the template's `Services`. If it is undefined, a service `bank` is started, which takes
   * every call.
   */
  readonly services: string | undefined
  readonly tell: (line: string) => void
}

export interface LocalAccount {
  /** The deployed template shows this address as `CounterstepUrl`. Here it asks for no signature. */
  readonly url: string
  stop(): Promise<void>
}

type Closer = () => Promise<unknown>

/** Starts the four functions of the template, with a Redis, two queues and a schedule that end with them. */
export async function startLocalAccount(options: LocalAccountOptions): Promise<LocalAccount> {
  const closers: Closer[] = []
  const stop = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    return { url: await start(options, closers), stop }
  } catch (error: unknown) {
    await stop()
    throw error
  }
}

async function start({ services, tell }: LocalAccountOptions, closers: Closer[]): Promise<string> {
  const client = await installRuntimeClient()
  const store = await startRedis()
  closers.push(() => store.stop())
  const queues = await startElasticmq()
  closers.push(() => queues.stop())
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-lambda-local-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  await buildBundles(folder)
  const visibilityTimeoutMs = 6 * WORKER_TIMEOUT_MS
  const openQueue = async (name: string) => {
    const opened = await createQueue({ endpoint: queues.url, name, visibilityTimeoutMs })
    closers.push(async () => opened.client.destroy())
    return opened
  }
  const [queue, slowQueue] = [await openQueue('counterstep-due'), await openQueue('counterstep-slow')]
  const variables = {
    COUNTERSTEP_STORE: store.url,
    COUNTERSTEP_QUEUE_URL: queue.url,
    COUNTERSTEP_SLOW_QUEUE_URL: slowQueue.url,
    COUNTERSTEP_AUTHORIZER: 'iam',
    COUNTERSTEP_SERVICES: services ?? `bank=${await startDemo(tell, closers)}`,
    COUNTERSTEP_LOG_LEVEL: 'warn',
  }
  const quick = { COUNTERSTEP_QUICK_CALL_MS: String(QUICK_CALL_MS) }
  const launch = (
    name: string,
    timeoutMs: number,
    own: Readonly<Record<string, string>> = {},
    bundle = name,
  ) => {
    const launched = startFunction(client, {
      name,
      taskRoot: join(folder, bundle),
      handler: 'index.handler',
      variables: { ...variables, ...own },
      memoryMb: MEMORY_MB,
      timeoutMs,
      initTimeoutMs: INIT_MS_MAX,
      reservedConcurrency: CONCURRENCY,
      logFolder: folder,
      onLine: ({ functionName, text }) => tell(`${functionName}: ${text}`),
      onReport: ({ durationMs, outcome }) => tell(`${name}: ${outcome} after ${Math.round(durationMs)} ms`),
    })
    closers.push(() => launched.stop())
    return launched
  }
  const api = launch('api', API_TIMEOUT_MS, quick)
  const front = await startHttpFront({ target: api, endpoint: 'function-url' })
  closers.push(() => front.stop())
  const workers = [
    { queue, target: launch('worker', WORKER_TIMEOUT_MS, quick) },
    { queue: slowQueue, target: launch('slow', WORKER_TIMEOUT_MS, {}, 'worker') },
  ]
  for (const worker of workers) {
    const source = startSqsEventSource({
      ...worker,
      batchSizeMax: BATCH_SIZE_MAX,
      batchingWindowMs: 0,
      concurrencyMax: CONCURRENCY,
      onError: (error) => tell(`the queue did not answer: ${String(error)}`),
    })
    closers.push(() => source.stop())
  }
  const target = launch('sweeper', SWEEPER_TIMEOUT_MS)
  const schedule = startSchedule({ target, everyMs: SWEEP_EVERY_MS, overlap: 'never' })
  closers.push(() => schedule.stop())
  return front.url
}

async function startDemo(tell: (line: string) => void, closers: Closer[]): Promise<string> {
  const service = await startDemoService((line) => tell(`bank: ${line}`))
  closers.push(() => service.stop())
  return service.url
}
