/** Put in by the bundler (bundle.ts). */
declare const COUNTERSTEP_VERSION: string

export const VERSION = COUNTERSTEP_VERSION
