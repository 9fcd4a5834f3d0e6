import { httpBranchCaller } from '@counterstep/branch-http'
import { listOrigins, originFinder, targetPolicy } from '@counterstep/branch-http/targets'
import {
  type FunctionConfig,
  type FunctionRole,
  readFunctionConfig,
  readSecretPassword,
} from '@counterstep/configuration'
import type { Store, WakeUpQueue } from '@counterstep/core'
import { refuseStoredJsonRpc } from '@counterstep/dtm/json-rpc'
import {
  createServerlessEngine,
  DEFAULT_SETTINGS,
  durabilityWarnings,
  type EngineSettings,
  type Logger,
  logEvents,
  nodeClock,
  nodeIds,
  type ServerlessEngine,
} from '@counterstep/engine'
import { type CallSigner, callSigner, parseSigningKey } from '@counterstep/signature'
import { createLog } from './log.ts'
import { logObserver } from './log-observer.ts'
import { openStore } from './open-store.ts'
import { patiently, patientStore } from './patient-store.ts'
import { type ReadSecret, secretReader } from './secrets.ts'
import { sqsQueue } from './sqs-queue.ts'

/** The start of an environment may take 10 s. */
const OPEN_PATIENCE_MS = 5_000

/** Holds what an environment keeps between its invocations. */
export interface Home {
  readonly config: FunctionConfig
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly store: Store
  readonly engine: ServerlessEngine
  /** It is undefined if there is no queue. */
  readonly queue: WakeUpQueue | undefined
}

/** The composition root of all three functions. Rejects when the settings are wrong or the store cannot be opened. */
export async function openHome(role: FunctionRole, environment = process.env): Promise<Home> {
  const read = readFunctionConfig(role, environment)
  if ('problems' in read) throw new Error(`the settings are wrong:\n${read.problems.join('\n')}`)
  const { config } = read
  const logger = createLog(config.logLevel)
  for (const warning of config.warnings) logger.warn({}, warning)
  const readSecret = secretReader()
  const [store, signer] = await Promise.all([
    storeOf(config, readSecret, logger),
    signerOf(config, readSecret),
  ])
  for (const warning of durabilityWarnings(store, 'COUNTERSTEP_STORE_FAILOVER')) logger.warn({}, warning)
  const queue = config.queueUrl === undefined ? undefined : sqsQueue(config.queueUrl)
  const targets = targetPolicy(config.targets)
  const engine = createServerlessEngine({
    store,
    branches: httpBranchCaller({ ...config.caller, targets, signer }),
    checkUrl: (url) => targets.check(url),
    refuseCall: refuseStoredJsonRpc,
    findOrigin: originFinder(targets),
    listedOrigins: listOrigins(config.targets),
    // Without a queue the sweeper finds what is due.
    wakeUp: queue ?? { schedule: () => Promise.resolve() },
    clock: nodeClock(),
    ids: nodeIds(),
    observer: logObserver(logger),
    settings: settingsOf(config),
  })
  return { config, logger, readSecret, store, engine, queue }
}

async function storeOf(
  { store, secrets: { storePassword } }: FunctionConfig,
  readSecret: ReadSecret,
  logger: Logger,
): Promise<Store> {
  const password = storePassword === undefined ? undefined : passwordOf(await readSecret(storePassword))
  const clock = nodeClock()
  // Too many environments at once may want a connection: the others' come free when they are frozen.
  const open = () => openStore(store, password, logEvents(logger))
  return patientStore(await patiently(clock, open, OPEN_PATIENCE_MS), clock)
}

function passwordOf(text: string): string {
  const password = readSecretPassword(text)
  if ('problem' in password) throw new Error(`COUNTERSTEP_STORE_PASSWORD_SECRET ${password.problem}`)
  return password.value
}

async function signerOf(
  { secrets: { signingKey } }: FunctionConfig,
  readSecret: ReadSecret,
): Promise<CallSigner | undefined> {
  if (signingKey === undefined) return undefined
  const key = parseSigningKey(await readSecret(signingKey))
  return callSigner(() => key, Date.now)
}

function settingsOf({ engine }: FunctionConfig): EngineSettings {
  return { ...DEFAULT_SETTINGS, ...engine }
}
