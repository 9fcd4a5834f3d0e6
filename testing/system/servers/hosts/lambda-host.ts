import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  createQueue,
  type FunctionSpec,
  type InvocationReport,
  type LambdaFunction,
  type LogLine,
  type RuntimeClient,
  startFunction,
  startHttpFront,
  startSchedule,
  startSqsEventSource,
} from '@counterstep/lambda-emulator'
import { createClient } from '@counterstep/sdk'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { Host, HostKind } from './host.ts'
import { isReadyAt } from './is-ready-at.ts'

/** Calls begin in the first 2.5 s; what a killed one held is free after 13 s. */
const TIMEOUT_MS = 8_000
/** Its start shares two cores with all others. */
const INIT_MS_MAX = 60_000
const CONCURRENCY = 4
const VISIBILITY_MS = 12_000
/** AWS does it each minute. */
const SWEEP_EVERY_MS = 1_000

export interface LambdaAccount {
  readonly client: RuntimeClient
  readonly queueServerUrl: string
  /** The folder of the bundles and the logs. */
  readonly folder: () => string
}

/** The functions api, worker and sweeper, with a queue of their own. */
export function lambdaHost(account: LambdaAccount): HostKind {
  return {
    name: 'functions',
    start: (storeUrl, branchesUrl) => start(account, { storeUrl, branchesUrl }),
  }
}

interface Outside {
  readonly storeUrl: string
  readonly branchesUrl: string
}

async function start(account: LambdaAccount, outside: Outside): Promise<Host> {
  const { queueServerUrl: endpoint } = account
  const queue = await createQueue({ endpoint, name: randomUUID(), visibilityTimeoutMs: VISIBILITY_MS })
  const faults: string[] = []
  const watch = new SecretWatch()
  const launch = launcher(account, makeVariables(outside, queue.url), {
    onReport: (report) => void faults.push(...listFaults(report)),
    onLine: (line) => {
      watch.hear(line.functionName, line.text)
      faults.push(...errorsIn(line))
    },
  })
  const [api, worker, sweeper] = [launch('api'), launch('worker'), launch('sweeper')]
  const front = await startHttpFront({ target: api, endpoint: 'function-url' })
  const source = startSqsEventSource({
    queue,
    target: worker,
    batchSizeMax: 10,
    batchingWindowMs: 0,
    concurrencyMax: CONCURRENCY,
    onError: (error) => faults.push(`the queue: ${String(error)}`),
  })
  const schedule = startSchedule({ target: sweeper, everyMs: SWEEP_EVERY_MS, overlap: 'never' })
  const client = createClient({ url: front.url, retryForMs: 0 })
  const answers: Promise<string | undefined>[] = []
  let isClosing = false
  /** Frozen environments too. */
  const end = async (isGraceful: boolean) => {
    isClosing = true
    const ways = [schedule.stop(), source.stop()]
    if (isGraceful) await Promise.all([...ways, ...answers])
    await Promise.all([api, worker, sweeper].map((each: LambdaFunction) => each.stop()))
    await Promise.all([...ways, ...answers, front.stop()])
    queue.client.destroy()
  }
  let ended: Promise<void> | undefined
  const endOnce = (isGraceful: boolean) => {
    ended ??= end(isGraceful)
    return ended
  }
  return {
    client,
    /** The answer comes when the invocation ends, and this does not wait for it. */
    async submit(request) {
      answers.push(client.submit(request).then(() => undefined, String))
    },
    isReady: async () => !isClosing && (await isReadyAt(front.url)),
    kill: () => endOnce(false),
    async close() {
      await endOnce(true)
      const refused = (await Promise.all(answers)).filter((error) => error !== undefined)
      const all = [...refused, ...faults, ...watch.shown]
      if (all.length > 0) throw new Error(all.join('\n'))
    },
    [Symbol.asyncDispose]: () => endOnce(false),
  }
}

function launcher(
  { client, folder }: LambdaAccount,
  variables: Readonly<Record<string, string>>,
  heard: Pick<FunctionSpec, 'onReport' | 'onLine'>,
) {
  return (name: string) =>
    startFunction(client, {
      name,
      taskRoot: join(folder(), name),
      handler: 'index.handler',
      variables,
      memoryMb: 512,
      timeoutMs: TIMEOUT_MS,
      initTimeoutMs: INIT_MS_MAX,
      reservedConcurrency: CONCURRENCY,
      logFolder: folder(),
      ...heard,
    })
}

function makeVariables({ storeUrl, branchesUrl }: Outside, queueUrl: string): Record<string, string> {
  return {
    COUNTERSTEP_STORE: storeUrl,
    COUNTERSTEP_AUTHORIZER: 'iam',
    COUNTERSTEP_ALLOW_TARGETS: branchesUrl,
    COUNTERSTEP_QUEUE_URL: queueUrl,
    COUNTERSTEP_LOG_LEVEL: 'warn',
  }
}

function listFaults({ functionName, outcome }: InvocationReport): string[] {
  return outcome === 'answered' ? [] : [`an invocation of ${functionName}: ${outcome}`]
}

/** Returns the line if it is an error: a bug, or something that a sound function never logs. */
function errorsIn({ functionName, text }: LogLine): string[] {
  return text.startsWith('{"level":"error"') ? [`${functionName}: ${text}`] : []
}
