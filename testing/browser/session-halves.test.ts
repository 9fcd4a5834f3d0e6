import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { ASKED_WHO_LOOKS, logIn } from './harness/log-in.ts'
import { startProxy } from './harness/prefix-proxy.ts'
import { serveOnLoopback } from './harness/serve-on-loopback.ts'
import { openPage } from './harness/watched-page.ts'

const STORED = 'JSON.stringify({ ...localStorage, ...sessionStorage })'

/** Waits until a page shows its person, and that the server pushes to it what changes. */
async function seeLive(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await page.locator('.live-mark[data-state="live"]').waitFor()
}

describeInBrowser('both halves of a session', (browser) => {
  let server: ConsoleServer
  let other: ConsoleServer
  beforeAll(async () => {
    server = await startConsoleServer({ hasKeys: true })
    other = await startConsoleServer({ hasKeys: true })
  })
  afterAll(async () => {
    for (const each of [server, other]) await each?.[Symbol.asyncDispose]()
  })

  it('S30: A server on another port of this host gets the cookie of a session, and with it nothing else', async () => {
    const cookies = new Set<string>()
    await using evil = await serveOnLoopback((asked, answer) => {
      if (asked.headers.cookie !== undefined) cookies.add(asked.headers.cookie)
      answer.writeHead(200, { 'content-type': 'text/html' }).end('<p>Look here</p>')
    })
    await using watched = await openPage(browser())
    const { page } = watched
    await logIn(page, `${server.url}/console/`, server.key)
    const lure = await page.context().newPage()
    await lure.goto(evil.url)
    await lure.getByText('Look here').waitFor()
    const [cookie = ''] = cookies
    expect(cookie).toMatch(/^counterstep=[\w-]{43}$/)
    expect(await lure.evaluate(STORED)).toBe('{}')
    for (const header of [undefined, '1', 'x'.repeat(43), cookie.slice('counterstep='.length)])
      for (const path of ['session', 'transactions', 'live?topics=overview']) {
        const console = header === undefined ? {} : { 'counterstep-console': header }
        const answer = await fetch(`${server.url}/v1/${path}`, { headers: { cookie, ...console } })
        await answer.body?.cancel()
        expect([path, header, answer.status]).toEqual([path, header, 401])
      }
    await page.reload()
    await seeLive(page)
    watched.assertClean([ASKED_WHO_LOOKS])
  })

  it('S30: A reload and a new tab go on in a session, and a logout ends it in both and leaves no secret', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await logIn(page, `${server.url}/console/`, server.key)
    await seeLive(page)
    expect(await page.evaluate(STORED)).toMatch(/"counterstep-session \/v1\/":"[\w-]{43}"/)
    await page.reload()
    await seeLive(page)
    const tab = await page.context().newPage()
    await tab.goto(`${server.url}/console/`)
    await seeLive(tab)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await page.evaluate(STORED)).not.toContain('counterstep-session')
    // Its screen asks the server again and again, and is refused.
    await tab.getByLabel('API key').waitFor()
    // The next login in one of them is good in both.
    await logIn(page, `${server.url}/console/`, server.key)
    await tab.reload()
    await seeLive(tab)
    watched.assertClean([ASKED_WHO_LOOKS])
  })

  it('Two consoles that differ by their path alone keep their sessions apart', async () => {
    await using proxy = await startProxy({ '/one': server.url, '/two': other.url })
    await using watched = await openPage(browser())
    const { page } = watched
    await logIn(page, `${proxy.url}one/console/`, server.key)
    const tab = await page.context().newPage()
    await logIn(tab, `${proxy.url}two/console/`, other.key)
    await page.reload()
    await seeLive(page)
    await tab.getByRole('button', { name: 'Log out' }).click()
    await tab.getByLabel('API key').waitFor()
    await page.reload()
    await seeLive(page)
  })
})
