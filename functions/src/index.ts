import type { InProcessServices } from '@counterstep/branch-http'
import type { ApiHandler } from './api-handler.ts'
import { openFunctionParts } from './function-parts.ts'
import type { SweeperHandler } from './sweeper-handler.ts'
import { createSweeperHandler } from './sweeper-handler.ts'
import type { WorkerHandler } from './worker-handler.ts'
import { createWorkerHandler } from './worker-handler.ts'

export type {
  InProcessAnswer,
  InProcessBranch,
  InProcessCall,
  InProcessServices,
} from '@counterstep/branch-http'
export type { ApiHandler } from './api-handler.ts'
export type { LambdaContext, QueueAnswer, QueueEvent, QueueRecord } from './events.ts'
export type { SweeperHandler } from './sweeper-handler.ts'
export type { WorkerHandler } from './worker-handler.ts'

/** The settings of a function are the variables `COUNTERSTEP_*` in here. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Give all functions the same, since each of them runs transactions. */
export interface FunctionOptions {
  /** Branches that are functions of the bundle, by service and path. They run in the invocation, without HTTP. */
  readonly branches?: InProcessServices
}

/**
 * Creates the handler of the function that takes requests, behind a Function URL or an HTTP API (payload format 2.0).
 *
 * Rejects with an Error that names every wrong setting, and when the store cannot be opened.
 *
 * @example
 * ```ts
 * import { createApi } from 'counterstep/lambda'
 * export const handler = await createApi()
 * ```
 *
 * @example With branches in the invocation itself, which the worker and the sweeper must be given, too:
 * ```ts
 * export const handler = await createApi(process.env, { branches: { stock: { '/reserve': (call) => answerBranch(barrier, reserve, call) } } })
 * ```
 */
export async function createApi(
  environment: Environment = process.env,
  { branches }: FunctionOptions = {},
): Promise<ApiHandler> {
  // Only this function needs fastify, whose loading is a third of a cold start.
  const { createApiHandler } = await import('./api-handler.ts')
  return createApiHandler(await openFunctionParts('api', environment, branches))
}

/**
 * Creates the handler of the function that the queue invokes. It rejects as `createApi` does.
 *
 * @example
 * ```ts
 * import { createWorker } from 'counterstep/lambda'
 * export const handler = await createWorker()
 * ```
 */
export async function createWorker(
  environment: Environment = process.env,
  { branches }: FunctionOptions = {},
): Promise<WorkerHandler> {
  return createWorkerHandler(await openFunctionParts('worker', environment, branches))
}

/**
 * Creates the handler of the function that a schedule invokes each minute. It rejects as `createApi` does.
 *
 * @example
 * ```ts
 * import { createSweeper } from 'counterstep/lambda'
 * export const handler = await createSweeper()
 * ```
 */
export async function createSweeper(
  environment: Environment = process.env,
  { branches }: FunctionOptions = {},
): Promise<SweeperHandler> {
  return createSweeperHandler(await openFunctionParts('sweeper', environment, branches))
}
