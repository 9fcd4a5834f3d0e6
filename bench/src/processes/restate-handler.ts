// The handler of Restate that changes accounts. Arguments: the folder of Restate's packages, the number of accounts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { requireFrom } from '../peers/pinned-packages.ts'
import { MOVE_SQL, type Transfer, toAccount, toCents } from '../workflow/move.ts'
import { openPool } from '../workflow/open-pool.ts'
import { toAnswer } from '../workflow/transfer-jobs.ts'
import { announce } from './announce.ts'

interface Context {
  run(name: string, effect: () => Promise<void>): Promise<void>
}

interface RestateSdk {
  service(definition: {
    readonly name: string
    readonly handlers: Readonly<Record<string, (ctx: Context, input: Transfer) => Promise<unknown>>>
  }): object
  createEndpointHandler(options: {
    readonly services: readonly object[]
  }): (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void
}

const [folder = '', accounts = ''] = process.argv.slice(2)
const { service, createEndpointHandler } = requireFrom<RestateSdk>(folder, '@restatedev/restate-sdk')
const pool = openPool()

const transfers = service({
  name: 'transfer',
  handlers: {
    run: async (ctx, { transfer, steps }) => {
      for (let number = 1; number <= steps; number += 1) {
        await ctx.run(`move ${number}`, async () => {
          await pool.query(MOVE_SQL, [toCents(number), toAccount({ transfer, number }, Number(accounts))])
        })
      }
      return toAnswer(steps)
    },
  },
})

const server = createServer(createEndpointHandler({ services: [transfers] }))
server.listen(0, '127.0.0.1', () => announce(server.address()))
process.on('SIGTERM', () => process.exit(0))
