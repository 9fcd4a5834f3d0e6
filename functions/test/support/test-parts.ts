/**
 * The parts of a function on the reference store, with services that answer at once and the settings that
 * `readFunctionConfig` returns.
 */
import { type FunctionRole, readFunctionConfig } from '@counterstep/configuration'
import type { BranchAnswer, BranchCall, Store, WakeUpRequest } from '@counterstep/core'
import { createServerlessEngine, type Logger, nodeClock, nodeIds } from '@counterstep/engine'
import { memoryStore } from '@counterstep/store-conformance'
import { type FunctionParts, toEngineSettings } from '../../src/function-parts.ts'
import { createLogObserver } from '../../src/log-observer.ts'

export interface TestPartsOptions {
  readonly role?: FunctionRole
  readonly variables?: Readonly<Record<string, string>>
  readonly store?: Store
  readonly hasQueue?: boolean
  readonly secrets?: Readonly<Record<string, string>>
  readonly answer?: (call: BranchCall) => Promise<BranchAnswer>
}

export interface TestParts extends FunctionParts {
  readonly wakeUps: WakeUpRequest[]
  readonly calls: BranchCall[]
  readonly lines: { readonly level: string; readonly message: string; readonly fields: object }[]
  readonly secrets: Record<string, string>
}

const VARIABLES = {
  COUNTERSTEP_STORE: 'mysql://user@db.test:3306/counterstep',
  COUNTERSTEP_ALLOW_ANY_TARGET: 'true',
  COUNTERSTEP_INSECURE_NO_KEYS: 'true',
}

export function createTestParts(options: TestPartsOptions = {}): TestParts {
  const { role = 'api', variables = {}, hasQueue = true } = options
  const read = readFunctionConfig(role, { ...VARIABLES, ...variables })
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  const [wakeUps, calls, lines]: [WakeUpRequest[], BranchCall[], TestParts['lines']] = [[], [], []]
  const secrets: Record<string, string> = { ...options.secrets }
  const store = options.store ?? memoryStore({ now: () => Date.now() })
  const logger = createLogger(lines)
  const queue = { schedule: async (asked: readonly WakeUpRequest[]) => void wakeUps.push(...asked) }
  const answer = options.answer ?? (async () => ({ result: 'success', statusCode: 200 }))
  const engine = createServerlessEngine({
    store,
    branches: {
      call: (call) => {
        calls.push(call)
        return answer(call)
      },
      close: async () => undefined,
    },
    checkUrl: () => undefined,
    wakeUp: queue,
    clock: nodeClock(),
    ids: nodeIds(),
    observer: createLogObserver(logger),
    settings: toEngineSettings(read.config),
  })
  return {
    config: read.config,
    logger,
    readSecret: async (arn) => secrets[arn] ?? Promise.reject(new Error('no such secret')),
    store,
    engine,
    queue: hasQueue ? queue : undefined,
    wakeUps,
    calls,
    lines,
    secrets,
  }
}

function createLogger(lines: TestParts['lines']): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields })
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export function buildSaga(gid: string, more: object = {}) {
  const url = `http://bank.test/${gid}`
  return {
    gid,
    branches: [{ action: `${url}/in`, compensation: `${url}/out`, payload: { amount: 1 } }],
    ...more,
  }
}
