export { branchCaller } from './branch-caller.ts'
export type { CallerLimits, HttpBranchCallerOptions, OriginTls } from './caller-options.ts'
export { DEFAULT_CALLER_LIMITS } from './caller-options.ts'
export type { ErrorWord } from './error-word.ts'
export { httpBranchCaller } from './http-branch-caller.ts'
export type {
  InProcessAnswer,
  InProcessBranch,
  InProcessCall,
  InProcessServices,
} from './in-process/in-process-branch.ts'
export { InProcessDirectory } from './in-process/in-process-services.ts'
