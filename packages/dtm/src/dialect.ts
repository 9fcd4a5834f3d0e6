import type { CheckGrpc, CheckUrl } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import type { CommandDeps } from './commands/deps.ts'
import { DialectMetrics } from './metrics/dialect-metrics.ts'
import type { TopicStore } from './topics/topic-store.ts'
import { Topics } from './topics/topics.ts'

export interface DialectDeps {
  readonly engine: EngineApi
  readonly topics: TopicStore
  /** It tells whether a branch may be called at a URL. It is asked before anything is stored. */
  readonly checkUrl: CheckUrl
  /** It does so for a branch over gRPC. Absent: no branch may be called so. */
  readonly checkGrpc?: CheckGrpc | undefined
  /**
   * This is the setting that the engine was given. When it is true, the engine refuses branch ids with a `-`.
   * It is false by default.
   */
  readonly plainIds?: boolean
}

/** The parts that DTM's HTTP API and its gRPC API have in common. */
export interface Dialect {
  readonly commands: CommandDeps
  readonly topics: Topics
  readonly metrics: DialectMetrics
}

export function createDialect({
  engine,
  topics,
  checkUrl,
  checkGrpc,
  plainIds = false,
}: DialectDeps): Dialect {
  const topicList = new Topics(topics, { checkUrl, checkGrpc }, () => performance.now())
  const findSubscribers = (topic: string) => topicList.findSubscribers(topic)
  return {
    commands: { engine, checkUrl, checkGrpc, plainIds, findSubscribers },
    topics: topicList,
    metrics: new DialectMetrics(),
  }
}
