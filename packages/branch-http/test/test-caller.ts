import { type HttpBranchCallerOptions, httpBranchCaller } from '@counterstep/branch-http'
import type { BranchAnswer, BranchCall, BranchCaller } from '@counterstep/core'
import { onTestFinished } from 'vitest'
import { buildCall } from './hostile-server.ts'

/** Makes a caller that is closed when the test ends. */
export function testCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  const caller = httpBranchCaller(options)
  onTestFinished(() => caller.close())
  return caller
}

export function callOnce(url: string, overrides: Partial<BranchCall> = {}): Promise<BranchAnswer> {
  return testCaller().call(buildCall(url, overrides))
}
