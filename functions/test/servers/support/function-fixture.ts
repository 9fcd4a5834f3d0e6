import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  type BatchDelivery,
  createQueue,
  type InvocationReport,
  type LogLine,
  type Queue,
  type RuntimeClient,
  type Schedule,
  type SqsEventSource,
  startFunction,
  startHttpFront,
  startSchedule,
  startSqsEventSource,
} from '@counterstep/lambda-emulator'
import { type Client, createClient } from '@counterstep/sdk'
import { startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { createSecrets, type FunctionSecrets } from './function-secrets.ts'
import { createOwnStore, type OwnStore } from './own-store.ts'
import { type SecretsManager, startSecretsManager } from './secrets-manager.ts'
import { SignedBranch } from './signed-branch.ts'

/** A message comes back after the same time, though AWS recommends six times this timeout for it. */
export const TIMEOUT_MS = 8_000
/** The start is slow here, since all processes share two cores. */
const INIT_MS_MAX = 60_000
const CONCURRENCY = 4
const QUICK_CALL_MS = 2_000
/** On AWS the sweeper runs each minute. */
const SWEEP_EVERY_MS = 1_000

/** A transaction that has to wait longer than this is given back. */
const HOLD_MS = 500

export interface Account {
  readonly client: RuntimeClient
  readonly queueServerUrl: string
  readonly storeServerUrl: string
  /** The bundles are in this folder, and the logs go there. */
  readonly folder: string
  /** The functions may call these services beside that of the fixture. */
  readonly targets?: readonly string[]
  /** The functions get these settings beside those of the fixture. */
  readonly variables?: Readonly<Record<string, string>>
  /** It is TIMEOUT_MS by default. */
  readonly timeoutMs?: number
  /** So many batches of one queue run at a time. */
  readonly batchesMax?: number
  /** Messages are handed out as by a fair queue. */
  readonly isFair?: boolean
}

export interface FunctionFixture {
  /** It sends a key with each request. */
  readonly client: Client
  readonly url: string
  readonly branch: SignedBranch
  readonly secrets: FunctionSecrets
  readonly secretsManager: SecretsManager
  /** It stands between all environments and the store. */
  readonly proxy: TcpProxy
  readonly queue: Queue
  /** It has the wake-ups of transactions whose calls hang or take long. */
  readonly slowQueue: Queue
  readonly source: SqsEventSource
  readonly batches: readonly BatchDelivery[]
  readonly reports: readonly InvocationReport[]
  readonly lines: readonly LogLine[]
  readonly watch: SecretWatch
  /** Starts the sweeper, which does not run before this call. */
  startSweeper(): Schedule
  close(): Promise<void>
}

type Closer = () => Promise<void>

/** Starts the three functions as they would be deployed: with secrets by ARN, a queue, and a key for each request. */
export async function startFunctionFixture(account: Account): Promise<FunctionFixture> {
  const closers: Closer[] = []
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    return { ...(await start(account, closers)), close }
  } catch (error: unknown) {
    await close()
    throw error
  }
}

async function start(account: Account, closers: Closer[]): Promise<Omit<FunctionFixture, 'close'>> {
  const secrets = await createSecrets()
  const secretsManager = await startSecretsManager(secrets.byName)
  closers.push(async () => secretsManager[Symbol.asyncDispose]())
  const branch = new SignedBranch(secrets.publicKey)
  await branch.start()
  closers.push(() => branch.stop())
  const store = await createOwnStore(account.storeServerUrl, secrets.password)
  closers.push(() => store.drop())
  const { hostname, port } = new URL(store.url)
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  closers.push(() => proxy.close())
  const [queue, slowQueue] = [await openQueue(account, closers), await openQueue(account, closers)]
  const outside = { secrets, secretsManager, branch, proxy, queue, slowQueue }
  const functions = launchAll(
    account,
    { ...buildVariables(store, outside, account.targets), ...account.variables },
    closers,
  )
  return { ...outside, ...functions, ...(await openWays(functions, outside, account, closers)) }
}

async function openQueue(
  { queueServerUrl: endpoint, timeoutMs = TIMEOUT_MS }: Account,
  closers: Closer[],
): Promise<Queue> {
  const queue = await createQueue({ endpoint, name: randomUUID(), visibilityTimeoutMs: timeoutMs })
  closers.push(async () => queue.client.destroy())
  return queue
}

type Outside = Pick<
  FunctionFixture,
  'secrets' | 'secretsManager' | 'branch' | 'proxy' | 'queue' | 'slowQueue'
>

function buildVariables(
  store: OwnStore,
  { secrets, secretsManager, branch, proxy, queue, slowQueue }: Outside,
  targets: readonly string[] = [],
): Record<string, string> {
  return {
    ...store.variables,
    ...secrets.variables,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.url,
    COUNTERSTEP_STORE: proxy.through(store.url),
    // Each environment logs a warning because of this setting.
    COUNTERSTEP_STORE_FAILOVER: 'lossy',
    COUNTERSTEP_STORE_TIMEOUT_MS: '1500',
    COUNTERSTEP_ALLOW_TARGETS: [branch.url, ...targets].join(','),
    COUNTERSTEP_QUEUE_URL: queue.url,
    COUNTERSTEP_SLOW_QUEUE_URL: slowQueue.url,
    COUNTERSTEP_HOLD_MS: String(HOLD_MS),
    COUNTERSTEP_LOG_LEVEL: 'debug',
  }
}

function launchAll(
  { client, folder, timeoutMs = TIMEOUT_MS }: Account,
  variables: Readonly<Record<string, string>>,
  closers: Closer[],
) {
  const [reports, lines]: [InvocationReport[], LogLine[]] = [[], []]
  const watch = new SecretWatch()
  const launch = (name: string, own: Readonly<Record<string, string>> = {}, bundle = name) => {
    const started = startFunction(client, {
      name,
      taskRoot: join(folder, bundle),
      handler: 'index.handler',
      variables: { ...variables, ...own },
      memoryMb: 512,
      timeoutMs,
      initTimeoutMs: INIT_MS_MAX,
      reservedConcurrency: CONCURRENCY,
      logFolder: folder,
      onReport: (report) => reports.push(report),
      onLine: (line) => {
        lines.push(line)
        watch.hear(`${line.functionName} ${line.environment}, ${line.stream}`, `${line.text}\n`)
      },
    })
    closers.push(() => started.stop())
    return started
  }
  const quick = { COUNTERSTEP_QUICK_CALL_MS: String(QUICK_CALL_MS) }
  return {
    ...{ api: launch('api', quick), worker: launch('worker', quick), slow: launch('slow', {}, 'worker') },
    ...{ sweeper: launch('sweeper'), reports, lines, watch },
  }
}

/** Connects everything that invokes the functions: HTTP, the queues and the schedule. */
async function openWays(
  { api, worker, slow, sweeper }: ReturnType<typeof launchAll>,
  { queue, slowQueue, secrets }: Outside,
  { batchesMax = CONCURRENCY, isFair = false }: Account,
  closers: Closer[],
): Promise<Pick<FunctionFixture, 'client' | 'url' | 'source' | 'batches' | 'startSweeper'>> {
  const front = await startHttpFront({ target: api, endpoint: 'function-url' })
  closers.push(() => front.stop())
  const batches: BatchDelivery[] = []
  const errors: unknown[] = []
  const common = {
    ...{ batchSizeMax: 10, batchingWindowMs: 0, concurrencyMax: batchesMax, isFair },
    onError: (error: unknown) => errors.push(error),
  }
  const source = startSqsEventSource({
    ...common,
    queue,
    target: worker,
    onBatch: (batch) => batches.push(batch),
  })
  const slowSource = startSqsEventSource({ ...common, queue: slowQueue, target: slow })
  closers.push(async () => {
    await Promise.all([source.stop(), slowSource.stop()])
    if (errors.length > 0) throw new AggregateError(errors, 'the queue')
  })
  return {
    client: createClient({ url: front.url, apiKey: secrets.apiKey, retryForMs: 0 }),
    url: front.url,
    source,
    batches,
    startSweeper() {
      const schedule = startSchedule({ target: sweeper, everyMs: SWEEP_EVERY_MS, overlap: 'never' })
      closers.push(() => schedule.stop())
      return schedule
    },
  }
}
