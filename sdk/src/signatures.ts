// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export { type SignedCall, signedCallCheck } from './signatures/signed-call-check.ts'
export type { SignedCallsOptions } from './signatures/signed-calls-options.ts'
