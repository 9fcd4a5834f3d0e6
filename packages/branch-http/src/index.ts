export type { CallerLimits, HttpBranchCallerOptions, OriginTls } from './caller-options.ts'
export { DEFAULT_CALLER_LIMITS } from './caller-options.ts'
export type { ErrorWord } from './error-word.ts'
export { httpBranchCaller } from './http-branch-caller.ts'
