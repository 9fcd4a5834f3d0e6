import { join } from 'node:path'
import { createClient } from '@counterstep/sdk'
import { startChild } from '../../e2e/child-process.ts'
import { type HostKind, LEASE_MS, POLL_MS } from './host.ts'
import { isReadyAt } from './is-ready-at.ts'

const PROGRAM = join(import.meta.dirname, 'embedded-main.ts')

/** An app of one's own with the plugin, in a process that can be killed. It submits in process. */
export const embeddedHost: HostKind = {
  name: 'an app with the plugin',
  async start(storeUrl) {
    const child = await startChild(PROGRAM, [storeUrl, String(LEASE_MS), String(POLL_MS)])
    const url = `${child.url}/counterstep`
    return {
      client: createClient({ url, retryForMs: 0 }),
      async submit(request) {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify(request)
        const answer = await fetch(`${child.url}/orders`, { method: 'POST', headers, body })
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
      },
      isReady: () => isReadyAt(url),
      kill: () => child.kill('SIGKILL'),
      async close() {
        await child.kill('SIGTERM')
        const code = await child.ended
        if (code !== 0) throw new Error(`exit ${code}`)
      },
      [Symbol.asyncDispose]: () => child.kill('SIGKILL'),
    }
  },
}
