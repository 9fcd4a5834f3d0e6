import './check-node.ts'

export {
  type ApiHandler,
  createApi,
  createSweeper,
  createWorker,
  type Environment,
  type FunctionOptions,
  type InProcessAnswer,
  type InProcessBranch,
  type InProcessCall,
  type InProcessServices,
  type LambdaContext,
  type QueueAnswer,
  type QueueEvent,
  type QueueRecord,
  type SweeperHandler,
  type WorkerHandler,
} from '@counterstep/functions'
