import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page that takes this for markup runs it, and the test sees the mark. */
const HOSTILE =
  '"><img src=x onerror="window.counterstepHostile=1"><script>window.counterstepHostile=1</script>'
/** These characters turn the direction of what stands behind them. */
const TURNED = '\u202Etxet-denrut\u202C \u05E9\u05DC\u05D5\u05DD'

export const LONG_GID = `long-${'g'.repeat(123)}`
/** No gid has quotes or spaces, so this is what a hostile one looks like. */
const HOSTILE_GID = '<img/src=x/onerror=window.counterstepHostile=1>'

export interface HostileService extends AsyncDisposable {
  readonly url: string
}

/** Starts a service that answers as its paths say, with texts that a page must not take for markup. */
export async function startHostileService(): Promise<HostileService> {
  const service = createServer((asked, answer) => {
    asked.resume()
    const path = asked.url ?? ''
    const status = path.startsWith('/fails') ? 500 : path.startsWith('/refuses') ? 409 : 200
    answer.writeHead(status, { 'content-type': 'application/json' })
    answer.end(JSON.stringify({ error: HOSTILE, text: TURNED }))
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      service.closeAllConnections()
      service.close()
      await once(service, 'close')
    },
  }
}

/** Submits a transaction of each look: one that succeeds, one that is undone, and two that no end is in sight for. */
export async function submitAll(serverUrl: string, serviceUrl: string): Promise<void> {
  const branch = (id: string, path: string) => ({
    id,
    action: `${serviceUrl}${path}`,
    compensation: `${serviceUrl}/undo?token=${encodeURIComponent(HOSTILE)}`,
    payload: { text: HOSTILE, turned: TURNED },
  })
  const tags = { region: 'eu', note: '<b>&amp;' }
  for (const { gid, paths } of [
    { gid: 'good-1', paths: ['/works', '/works'] },
    { gid: 'undone-1', paths: ['/works', '/refuses'] },
    { gid: 'stuck-1', paths: ['/works', '/fails'] },
    { gid: LONG_GID, paths: ['/works', '/fails'] },
    { gid: HOSTILE_GID, paths: ['/works', '/refuses'] },
  ]) {
    const branches = paths.map((path, index) => branch(`branch-${index}`, path))
    const answer = await fetch(`${serverUrl}/v1/transactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=1' },
      body: JSON.stringify({ gid, name: 'transfer', tags, branches }),
    })
    if (!answer.ok) throw new Error(`${gid}: ${answer.status} ${await answer.text()}`)
  }
}
