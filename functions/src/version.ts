/** Put in by the bundler (scripts/build-functions.ts). */
declare const COUNTERSTEP_VERSION: string

export const VERSION = COUNTERSTEP_VERSION
