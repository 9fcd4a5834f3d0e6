import { branchCaller, InProcessDirectory, type InProcessServices } from '@counterstep/branch-http'
import { createOriginFinder, listOrigins, targetPolicy } from '@counterstep/branch-http/targets'
import {
  type FunctionConfig,
  type FunctionRole,
  readFunctionConfig,
  readSecretPassword,
} from '@counterstep/configuration'
import type { BranchCall, Store, WakeUpQueue } from '@counterstep/core'
import { refuseStoredJsonRpc } from '@counterstep/dtm/json-rpc'
import {
  createServerlessEngine,
  DEFAULT_SETTINGS,
  type EngineSettings,
  type Logger,
  listDurabilityWarnings,
  logEvents,
  nodeClock,
  nodeIds,
  type ServerlessEngine,
} from '@counterstep/engine'
import { type CallSigner, callSigner, parseSigningKey } from '@counterstep/signature'
import { countMemoryPlaces } from './count-memory-places.ts'
import { createLog } from './log.ts'
import { createLogObserver } from './log-observer.ts'
import { openStore } from './open-store.ts'
import { callPatiently, makePatient } from './patient-store.ts'
import { createSecretReader, type ReadSecret } from './secrets.ts'
import { splitBySpeed } from './split-by-speed.ts'
import { createSqsQueue } from './sqs-queue.ts'

/** The start of an environment may take 10 s, and the other half of it is left for the rest. */
const OPEN_PATIENCE_MS = 5_000

/** These are the parts that an environment keeps between its invocations. */
export interface FunctionParts {
  readonly config: FunctionConfig
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly store: Store
  readonly engine: ServerlessEngine
  /** It is undefined if there is no queue. */
  readonly queue: WakeUpQueue | undefined
}

/**
 * Opens the parts of all three functions. Rejects when the settings are wrong or the store cannot be opened. `own` has the
 * branches that are functions of the bundle.
 */
export async function openFunctionParts(
  role: FunctionRole,
  environment = process.env,
  own: InProcessServices = {},
): Promise<FunctionParts> {
  const directory = new InProcessDirectory(own)
  const read = readFunctionConfig(role, environment, { hasOwnBranches: !directory.isEmpty })
  if ('problems' in read) throw new Error(`the settings are wrong:\n${read.problems.join('\n')}`)
  const { config } = read
  const rules = directory.addTo(config.targets)
  const logger = createLog(config.logLevel)
  for (const warning of config.warnings) logger.warn({}, warning)
  const readSecret = createSecretReader()
  const [store, signer] = await Promise.all([
    openPatientStore(config, readSecret, logger),
    openSigner(config, readSecret),
  ])
  for (const warning of listDurabilityWarnings(store, 'COUNTERSTEP_STORE_FAILOVER')) logger.warn({}, warning)
  const queue = openQueue(config, logger)
  const targets = targetPolicy(rules)
  const inProcess = {
    directory,
    onError: (err: unknown, { gid, branchId, op }: BranchCall) =>
      logger.warn({ err, gid, branchId, op }, 'a branch of this function has failed'),
  }
  const listedOrigins = listOrigins(rules)
  const engine = createServerlessEngine({
    store,
    branches: branchCaller({ ...config.caller, targets, listedOrigins, signer }, inProcess),
    checkUrl: (url) => targets.check(url) ?? directory.check(url),
    refuseCall: refuseStoredJsonRpc,
    findOrigin: createOriginFinder(targets),
    listedOrigins,
    // Without a queue the sweeper finds what is due.
    wakeUp: queue ?? { schedule: () => Promise.resolve() },
    quickCallMs: config.quickCallMs,
    clock: nodeClock(),
    ids: nodeIds(),
    observer: createLogObserver(logger),
    settings: toEngineSettings(config),
  })
  return { config, logger, readSecret, store, engine, queue }
}

function openQueue({ queueUrl, slowQueueUrl }: FunctionConfig, logger: Logger): WakeUpQueue | undefined {
  if (queueUrl === undefined) return undefined
  const queue = createSqsQueue(queueUrl, logger)
  return slowQueueUrl === undefined ? queue : splitBySpeed(queue, createSqsQueue(slowQueueUrl, logger))
}

async function openPatientStore(
  { store, secrets: { storePassword } }: FunctionConfig,
  readSecret: ReadSecret,
  logger: Logger,
): Promise<Store> {
  const password = storePassword === undefined ? undefined : readPassword(await readSecret(storePassword))
  const clock = nodeClock()
  // If many environments start at once, the database may have no free connection until some of them are frozen.
  const open = () => openStore(store, password, logEvents(logger))
  return makePatient(await callPatiently(clock, open, OPEN_PATIENCE_MS), clock)
}

function readPassword(text: string): string {
  const password = readSecretPassword(text)
  if ('problem' in password) throw new Error(`COUNTERSTEP_STORE_PASSWORD_SECRET ${password.problem}`)
  return password.value
}

async function openSigner(
  { secrets: { signingKey } }: FunctionConfig,
  readSecret: ReadSecret,
): Promise<CallSigner | undefined> {
  if (signingKey === undefined) return undefined
  const key = parseSigningKey(await readSecret(signingKey))
  return callSigner(() => key, Date.now)
}

export function toEngineSettings({ engine, memoryMb }: FunctionConfig): EngineSettings {
  const places = memoryMb === undefined ? {} : { recoveryInFlightMax: countMemoryPlaces(memoryMb) }
  return { ...DEFAULT_SETTINGS, ...engine, ...places }
}
