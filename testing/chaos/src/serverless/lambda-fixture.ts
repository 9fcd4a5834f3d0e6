import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  buildBundles,
  createQueue,
  type HttpFront,
  type LambdaFunction,
  type Queue,
  type RuntimeClient,
  type Schedule,
  type SqsEventSource,
  startFunction,
  startHttpFront,
  startSchedule,
  startSqsEventSource,
} from '@counterstep/lambda-emulator'
import { startElasticmq, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { BANKS } from '../bank/nemesis/nemesis-schedule.ts'
import type { CallFates } from '../bank/network/call-fate.ts'
import { type BankNode, startBankNode } from '../bank/processes/bank-node.ts'
import { openStoreFixture } from '../bank/stores/open-store-fixture.ts'
import type { StoreFixture } from '../bank/stores/store-fixture.ts'
import type { FunctionFaults } from './function-faults.ts'
import type { FunctionReports } from './function-reports.ts'
import {
  API_CONCURRENCY,
  API_TIMEOUT_MS,
  CONNECTIONS_MAX,
  FUNCTION_VARIABLES,
  type LambdaSettings,
  QUICK_CALL_MS,
  RECYCLE_AFTER_INVOCATIONS,
  SLOW_WORKER_CONCURRENCY,
  SWEEP_EVERY_MS,
  SWEEPER_TIMEOUT_MS,
  VISIBILITY_MS,
  WORKER_CONCURRENCY,
  WORKER_TIMEOUT_MS,
} from './lambda-settings.ts'

export interface LambdaFixtureSpec {
  readonly client: RuntimeClient
  readonly settings: LambdaSettings
  readonly folder: string
  readonly fates: CallFates
  readonly faults: FunctionFaults
  readonly reports: FunctionReports
}

type Closer = () => Promise<void>

/** Everything that an account of AWS would run, and what it calls. */
export interface LambdaFixture {
  readonly store: StoreFixture
  readonly storeProxy: TcpProxy | undefined
  readonly banks: readonly BankNode[]
  /** The URL that clients get. */
  readonly url: string
  readonly frontProxy: TcpProxy
  readonly source: SqsEventSource
  /** It brings what hangs or takes long. */
  readonly slowSource: SqsEventSource
  readonly schedule: Schedule
  /** Everything but databases and banks. */
  stopFunctions(): Promise<void>
  close(): Promise<void>
}

export async function startLambdaFixture(spec: LambdaFixtureSpec): Promise<LambdaFixture> {
  const closers: Closer[] = []
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    return { ...(await start(spec, closers)), close }
  } catch (error: unknown) {
    await close()
    throw error
  }
}

async function start(
  { client, settings, folder, fates, faults, reports }: LambdaFixtureSpec,
  closers: Closer[],
): Promise<Omit<LambdaFixture, 'close'>> {
  const logFolder = join(folder, 'logs')
  await mkdir(logFolder)
  const bundles = join(folder, 'bundles')
  await buildBundles(bundles)
  const store = await openStoreFixture(settings.store, folder, logFolder)
  closers.push(() => store.stop())
  await store.allowConnections?.(CONNECTIONS_MAX)
  const banks = await startBanks({ settings, logFolder, fates, store, closers })
  const edge = await store.edge(0)
  closers.push(async () => edge.proxy?.close())
  const { queue, slowQueue } = await openQueues(closers)
  const variables = {
    ...storeVariables(edge.flags),
    ...FUNCTION_VARIABLES,
    COUNTERSTEP_ALLOW_TARGETS: banks.map(({ url }) => url).join(','),
    COUNTERSTEP_QUEUE_URL: queue.url,
    COUNTERSTEP_SLOW_QUEUE_URL: slowQueue.url,
  }
  const launch = (
    name: string,
    timeoutMs: number,
    reservedConcurrency: number,
    { bundle = name, own = {} }: OwnParts = {},
  ) => {
    const started = startFunction(client, {
      name,
      taskRoot: join(bundles, bundle),
      handler: 'index.handler',
      variables: { ...variables, ...own },
      memoryMb: 512,
      timeoutMs,
      // The burst starts forty of them on a machine of two cores.
      initTimeoutMs: 60_000,
      reservedConcurrency,
      recycleAfter: { invocations: RECYCLE_AFTER_INVOCATIONS },
      killAfterMs: faults.killAfterMs,
      logFolder,
      onReport: reports.add,
    })
    closers.push(() => started.stop())
    return started
  }
  const own = { COUNTERSTEP_QUICK_CALL_MS: String(QUICK_CALL_MS) }
  const functions = {
    api: launch('api', API_TIMEOUT_MS, API_CONCURRENCY, { own }),
    worker: launch('worker', WORKER_TIMEOUT_MS, WORKER_CONCURRENCY, { own }),
    slow: launch('slow', WORKER_TIMEOUT_MS, SLOW_WORKER_CONCURRENCY, { bundle: 'worker' }),
    sweeper: launch('sweeper', SWEEPER_TIMEOUT_MS, 1),
  }
  return {
    store,
    storeProxy: edge.proxy,
    banks,
    ...(await openWays(functions, { queue, slowQueue }, faults, closers)),
  }
}

async function startBanks({
  settings,
  logFolder,
  fates,
  store,
  closers,
}: {
  readonly settings: LambdaSettings
  readonly logFolder: string
  readonly fates: CallFates
  readonly store: StoreFixture
  readonly closers: Closer[]
}): Promise<readonly BankNode[]> {
  const indexes = Array.from({ length: BANKS }, (_, index) => index)
  return await Promise.all(
    indexes.map(async (index) => {
      const database = await store.bankDatabase(index)
      const { seed } = settings
      const bank = await startBankNode({ index, logFolder, guard: 'barrier', seed, fates, database })
      closers.push(async () => {
        if (bank.process.isRunning) await bank.process.kill()
        await bank.proxy.close()
        await bank.repeater.close()
      })
      return bank
    }),
  )
}

interface OwnParts {
  /** The folder of its code, if it is not called like the function. */
  readonly bundle?: string
  readonly own?: Readonly<Record<string, string>>
}

interface Queues {
  readonly queue: Queue
  readonly slowQueue: Queue
}

async function openQueues(closers: Closer[]): Promise<Queues> {
  const server = await startElasticmq()
  closers.push(() => server.stop())
  const open = (name: string) =>
    createQueue({ endpoint: server.url, name, visibilityTimeoutMs: VISIBILITY_MS })
  return { queue: await open('looks'), slowQueue: await open('slow-looks') }
}

/** Opens the ways to the functions: HTTP, the queue, the clock. */
async function openWays(
  { api, worker, slow, sweeper }: Readonly<Record<'api' | 'worker' | 'slow' | 'sweeper', LambdaFunction>>,
  { queue, slowQueue }: Queues,
  faults: FunctionFaults,
  closers: Closer[],
): Promise<
  Pick<LambdaFixture, 'url' | 'frontProxy' | 'source' | 'slowSource' | 'schedule' | 'stopFunctions'>
> {
  const front: HttpFront = await startHttpFront({ target: api, endpoint: 'function-url' })
  closers.push(() => front.stop())
  const frontProxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(front.url).port) })
  closers.push(async () => frontProxy.close())
  const take = (from: Queue, target: LambdaFunction, concurrencyMax: number) => {
    const started = startSqsEventSource({
      ...{ queue: from, target, concurrencyMax },
      batchSizeMax: 10,
      batchingWindowMs: 0,
      faults: faults.ofMessages(),
      onError: (error) => process.stderr.write(`chaos: the queue: ${String(error)}\n`),
    })
    closers.push(() => started.stop())
    return started
  }
  const source = take(queue, worker, WORKER_CONCURRENCY)
  const slowSource = take(slowQueue, slow, SLOW_WORKER_CONCURRENCY)
  const schedule = startSchedule({ target: sweeper, everyMs: SWEEP_EVERY_MS, overlap: 'never' })
  closers.push(() => schedule.stop())
  return {
    url: `http://127.0.0.1:${frontProxy.port}`,
    frontProxy,
    source,
    slowSource,
    schedule,
    async stopFunctions() {
      await Promise.all([schedule.stop(), source.stop(), slowSource.stop()])
      await Promise.all([api.stop(), worker.stop(), slow.stop(), sweeper.stop()])
    },
  }
}

/** The flags of a server under the names that a function reads. */
function storeVariables(flags: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flags).map(([flag, value]) => [
      `COUNTERSTEP_${flag.toUpperCase().replaceAll('-', '_')}`,
      String(value),
    ]),
  )
}
