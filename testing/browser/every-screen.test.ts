import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { LONG_GID, startHostileService, submitAll } from './harness/hostile-service.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { type PrefixProxy, startPrefixProxy } from './harness/prefix-proxy.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import type { LoopbackService } from './harness/serve-on-loopback.ts'
import { openPage } from './harness/watched-page.ts'

const PREFIX = '/tools/saga'
const WIDTHS = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
] as const
const SCREENS = [
  { name: 'overview', hash: '#/' },
  { name: 'list', hash: '#/list' },
  { name: 'transaction', hash: '#/tx/stuck-1' },
  { name: 'long-gid', hash: `#/tx/${LONG_GID}` },
  { name: 'unknown-gid', hash: '#/tx/nowhere' },
  { name: 'problems', hash: '#/problems' },
  { name: 'services', hash: '#/services' },
  { name: 'names', hash: '#/names' },
  { name: 'panel', hash: '#/panels/settings' },
  { name: 'unknown-panel', hash: '#/panels/nothing' },
  { name: 'bulk', hash: '#/bulk' },
  { name: 'playground', hash: '#/new' },
] as const

describeInBrowser('every screen, on a real server', (browser) => {
  let service: LoopbackService
  let server: ConsoleServer
  let keyed: ConsoleServer
  let proxy: PrefixProxy
  beforeAll(async () => {
    service = await startHostileService()
    server = await startConsoleServer()
    keyed = await startConsoleServer({ hasKeys: true })
    proxy = await startPrefixProxy(server.url, PREFIX)
    await submitAll(server.url, service.url)
  })
  afterAll(async () => {
    for (const each of [proxy, server, keyed, service]) await each?.[Symbol.asyncDispose]()
  })

  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of WIDTHS)
      for (const place of ['root', 'prefix'] as const) {
        const title = `${colorScheme}, ${viewport.width} px, at the ${place}`
        it(`S30: Each screen keeps to its policy and is accessible (${title})`, async () => {
          const root = place === 'root' ? `${server.url}/` : proxy.url
          await using watched = await openPage(browser(), { colorScheme, viewport })
          const { page } = watched
          for (const { name, hash } of SCREENS) {
            await page.goto(`${root}console/${hash}`)
            await page.locator('main h1, main h2, main table').first().waitFor()
            await page.waitForLoadState('load')
            if (place === 'root')
              await takeScreenshot(page, `screen-${name}-${colorScheme}-${viewport.width}`)
            await watched.assertAccessible(name)
          }
          // The one answer that is no success is the transaction that does not exist.
          watched.assertClean([/404 \(Not Found\)/])
          expect(await page.evaluate('window.counterstepHostile')).toBeUndefined()
        })
      }

  it('S30: A person logs in with a key, and no script sees the session', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await page.goto(`${keyed.url}/console/#/list`)
    const key = page.locator('input[type="password"]')
    await key.waitFor()
    await watched.assertAccessible()
    await key.fill(keyed.key ?? '')
    await key.press('Enter')
    await page.getByText('There is no transaction yet').waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    const [cookie] = await page.context().cookies()
    const stored = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
    for (const secret of [keyed.key, cookie?.value]) expect(stored).not.toContain(secret ?? 'no secret')
    expect(cookie).toMatchObject({ name: 'counterstep', httpOnly: true, sameSite: 'Strict', path: '/' })
    // The key stands in no address and no output of the server.
    expect(page.url() + keyed.process.output).not.toContain(keyed.key ?? 'no key')
    watched.assertClean([/401 \(Unauthorized\)/])
  })
})
