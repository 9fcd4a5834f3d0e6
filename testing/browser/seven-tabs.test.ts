import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'
import { watchStreams } from './harness/watched-streams.ts'

/** A browser has six connections of HTTP/1.1 to one server. */
const TABS = 7
/** So many of them may have a stream, which leaves two connections to what all tabs ask. */
const STREAMS = 4
/** A tab without a stream asks each 5 s, and a hidden one keeps its stream for 5 s. */
const SEEN_MS_MAX = 20_000

/** A browser without a screen takes every tab for seen, so the page is told what a person's browser would tell it. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
    document.dispatchEvent(new Event('visibilitychange'))
  `)
}

describeInBrowser('many tabs on one server', (browser) => {
  it('Seven tabs that are all seen answer and show what happens, and four of them by a stream', async () => {
    await using server = await startConsoleServer()
    await using watched = await openPage(browser())
    const context = watched.page.context()
    const tabs = [watched.page]
    while (tabs.length < TABS) tabs.push(await context.newPage())
    const streams = tabs.map(watchStreams)
    for (const page of tabs) await page.goto(`${server.url}/console/#/`)
    for (const page of tabs) await page.locator('.cards').waitFor()
    await submitMany(
      [server.url],
      [{ gid: 'seen-by-all', branches: [{ id: 'one', action: `${server.url}/health/live` }] }],
    )
    for (const page of tabs) await page.getByText('seen-by-all').first().waitFor({ timeout: SEEN_MS_MAX })
    const marks = await Promise.all(tabs.map((page) => page.locator('.live-mark').getAttribute('data-state')))
    expect(marks.filter((mark) => mark === 'live')).toHaveLength(STREAMS)
    expect(streams.reduce((sum, { open }) => sum + open, 0)).toBe(STREAMS)
    // A tab that is closed leaves its place to another one.
    await tabs[marks.indexOf('live')]?.close()
    const waiting = tabs.filter((_, index) => marks[index] !== 'live')
    await expect
      .poll(
        async () =>
          await Promise.all(waiting.map((page) => page.locator('.live-mark').getAttribute('data-state'))),
        { timeout: SEEN_MS_MAX },
      )
      .toContain('live')
  })

  it('A tab that is hidden closes its stream, and opens one when it is seen again', async () => {
    await using server = await startConsoleServer()
    await using watched = await openPage(browser())
    const { page } = watched
    const streams = watchStreams(page)
    await page.goto(`${server.url}/console/#/`)
    await page.locator('.live-mark[data-state="live"]').waitFor()
    expect(streams).toEqual({ opened: 1, open: 1 })
    await setHidden(page, true)
    await expect.poll(() => streams.open, { timeout: SEEN_MS_MAX }).toBe(0)
    await setHidden(page, false)
    await expect.poll(() => ({ ...streams }), { timeout: SEEN_MS_MAX }).toEqual({ opened: 2, open: 1 })
    watched.assertClean()
  })
})
