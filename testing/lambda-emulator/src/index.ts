export { buildBundles } from './build-bundles.ts'
export type { EnvironmentState } from './environment.ts'
export { RuntimeClientMissingError } from './errors.ts'
export type { FunctionSpec, LogLine, RecycleAfter } from './function-spec.ts'
export type { HttpEndpoint } from './http/http-endpoint.ts'
export { type HttpFront, type HttpFrontOptions, startHttpFront } from './http/http-front.ts'
export { installRuntimeClient, type RuntimeClient } from './install-runtime-client.ts'
export type { FunctionError, InvocationOutcome, InvocationReport } from './invocation.ts'
export { type EnvironmentView, type LambdaFunction, startFunction } from './lambda-function.ts'
export { type Schedule, type ScheduleCounts, type ScheduleOptions, startSchedule } from './schedule.ts'
export {
  type BatchDelivery,
  type SqsCounts,
  type SqsEventSource,
  type SqsEventSourceOptions,
  startSqsEventSource,
} from './sqs/event-source.ts'
export type { SqsFaults } from './sqs/message-faults.ts'
export { countMessages, createQueue, type MessageCounts, type Queue, type QueueOptions } from './sqs/queue.ts'
export { openSqsClient } from './sqs/sqs-client.ts'
