import { createClient } from '@counterstep/sdk'
import { NodeProcess } from '../several-nodes/node-process.ts'
import { type HostKind, LEASE_MS, POLL_MS } from './host.ts'
import { isReadyAt } from './is-ready-at.ts'

/** `counterstep serve`. */
export const serverHost: HostKind = {
  name: 'the server',
  async start(storeUrl) {
    const node = await NodeProcess.start({ store: storeUrl, 'lease-ms': LEASE_MS, 'poll-ms': POLL_MS })
    const client = createClient({ url: node.url, retryForMs: 0 })
    return {
      client,
      submit: async (request) => void (await client.submit(request)),
      isReady: () => isReadyAt(node.url),
      kill: () => node.kill(),
      async close() {
        const { code } = await node.stop()
        if (code !== 0 || node.errors.length > 0) throw new Error(`exit ${code}\n${node.errors.join('\n')}`)
      },
      [Symbol.asyncDispose]: () => node.kill(),
    }
  },
}
