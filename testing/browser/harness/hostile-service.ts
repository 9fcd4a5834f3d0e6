import { chooseStatus, type LoopbackService, serveOnLoopback } from './serve-on-loopback.ts'

/** A page that takes this for markup runs it, and the test sees the mark. */
const HOSTILE =
  '"><img src=x onerror="window.counterstepHostile=1"><script>window.counterstepHostile=1</script>'
/** These characters turn the direction of what stands behind them. */
const TURNED = '\u202Etxet-denrut\u202C \u05E9\u05DC\u05D5\u05DD'

export const LONG_GID = `long-${'g'.repeat(123)}`
/** No gid has quotes or spaces, so this is what a hostile one looks like. */
const HOSTILE_GID = '<img/src=x/onerror=window.counterstepHostile=1>'

/** Starts a service that answers as its paths say, with texts that a page must not take for markup. */
export function startHostileService(): Promise<LoopbackService> {
  return serveOnLoopback((asked, answer) => {
    asked.resume()
    answer.writeHead(chooseStatus(asked.url), { 'content-type': 'application/json' })
    answer.end(JSON.stringify({ error: HOSTILE, text: TURNED }))
  })
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
