// A saga as a handler of Restate: its steps call the branches, and what may have taken effect is undone if one refuses.
// Argument: the folder of Restate's packages.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { callBranch } from '../peers/call-branch.ts'
import { requireFrom } from '../peers/pinned-packages.ts'
import { type SagaBranch, type SagaRequest, SUCCEEDED } from '../peers/saga-request.ts'
import { announce } from './announce.ts'

interface Context {
  run(name: string, effect: () => Promise<void>): Promise<void>
}

interface RestateSdk {
  readonly TerminalError: new (message: string) => Error
  service(definition: {
    readonly name: string
    readonly handlers: Readonly<Record<string, (ctx: Context, input: SagaRequest) => Promise<object>>>
  }): object
  createEndpointHandler(options: {
    readonly services: readonly object[]
  }): (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void
}

const [folder = ''] = process.argv.slice(2)
const { TerminalError, service, createEndpointHandler } = requireFrom<RestateSdk>(
  folder,
  '@restatedev/restate-sdk',
)

const sagas = service({
  name: 'saga',
  handlers: {
    run: async (ctx, { branches }) => {
      const called: SagaBranch[] = []
      try {
        for (const [index, branch] of branches.entries()) {
          called.push(branch)
          await ctx.run(`action ${index + 1}`, () => callBranch(branch.action, branch.payload))
        }
        return SUCCEEDED
      } catch (error: unknown) {
        // Restate itself repeats a step after any other error.
        if (!(error instanceof TerminalError)) throw error
        for (const { compensation, payload } of called.reverse())
          await ctx.run('compensation', () => callBranch(compensation, payload))
        return { status: 'failed' }
      }
    },
  },
})

const server = createServer(createEndpointHandler({ services: [sagas] }))
server.listen(0, '127.0.0.1', () => announce(server.address()))
process.on('SIGTERM', () => process.exit(0))
