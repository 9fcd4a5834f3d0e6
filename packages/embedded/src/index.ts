export type {
  InProcessAnswer,
  InProcessBranch,
  InProcessCall,
  InProcessServices,
} from '@counterstep/branch-http'
export { createCounterstep, type OwnCounterstep } from './create-counterstep.ts'
export { type Counterstep, toCounterstep } from './in-process.ts'
export { refuseUnknown } from './known-options.ts'
export { checkOptions, OPTION_NAMES, openParts, type Parts } from './open-parts.ts'
export type { CounterstepOptions, OpenStore, Targets } from './options.ts'
