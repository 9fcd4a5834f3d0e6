import type { BranchCall, BranchCaller } from '@counterstep/core'
import { isGrpcUrl } from '@counterstep/protocol'
import { checkOptions, type HttpBranchCallerOptions } from './caller-options.ts'
import { createCallerOrigins } from './caller-origins.ts'
import { createConnectionsFactory, GrpcBranchCaller } from './grpc/grpc-branch-caller.ts'
import { createHttpBranchCaller } from './http-branch-caller.ts'
import { InProcessCaller, type InProcessOptions } from './in-process/in-process-caller.ts'
import { createOpenTurns } from './origin-turns.ts'
import { createPoolFactory } from './pool-factory.ts'

/** Makes the caller of all branches, which calls each one as the scheme of its URL says. */
export function branchCaller(
  given: HttpBranchCallerOptions = {},
  inProcess?: InProcessOptions,
): BranchCaller {
  const options = checkOptions(given)
  const openTurns = createOpenTurns(options)
  const createPool = createPoolFactory(options, openTurns)
  const createConnections = createConnectionsFactory(options, openTurns)
  const shared = createCallerOrigins(options, (originKey) =>
    isGrpcUrl(originKey) ? createConnections(originKey) : createPool(originKey),
  )
  const http = createHttpBranchCaller(options, shared)
  const grpc = new GrpcBranchCaller(options, shared)
  // Where no service is here, no call is looked for here.
  const own = inProcess?.directory.isEmpty === false ? new InProcessCaller(inProcess, options) : undefined
  function findCaller({ url }: BranchCall): BranchCaller {
    if (own?.serves(url)) return own
    return isGrpcUrl(url) ? grpc : http
  }
  return {
    call: (call) => findCaller(call).call(call),
    loads: () => [...shared.origins.loads(), ...(own?.loads() ?? [])],
    async close() {
      await Promise.all([http.close(), grpc.close(), own?.close()])
    },
  }
}
