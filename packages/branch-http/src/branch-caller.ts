import type { BranchCaller } from '@counterstep/core'
import { isGrpcUrl } from '@counterstep/protocol'
import type { HttpBranchCallerOptions } from './caller-options.ts'
import { grpcBranchCaller } from './grpc/grpc-branch-caller.ts'
import { httpBranchCaller } from './http-branch-caller.ts'

/** Makes the caller of all branches, which calls each one as the scheme of its URL says. */
export function branchCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  const http = httpBranchCaller(options)
  const grpc = grpcBranchCaller(options)
  return {
    call: (call) => (isGrpcUrl(call.url) ? grpc : http).call(call),
    loads: () => [...(http.loads?.() ?? []), ...(grpc.loads?.() ?? [])],
    async close() {
      await Promise.all([http.close(), grpc.close()])
    },
  }
}
