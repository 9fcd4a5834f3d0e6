// biome-ignore-all lint/performance/noBarrelFile: An entry of package.json.

export { type SignedCall, signedCallCheck } from './signatures/signed-call-check.ts'
export type { SignedCallsOptions } from './signatures/signed-calls-options.ts'
