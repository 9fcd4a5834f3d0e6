import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from './harness/in-browser.ts'
import { startOnMariadb } from './harness/mariadb-servers.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

/** The server notices an outage within the time that it gives a statement. */
const STORE_TIMEOUT_MS = 1_500
const NOTICED_MS_MAX = 30_000
const BACK_MS_MAX = 30_000
const COUNT = 3
/** These are the words of a browser for answers that are no success. */
const REFUSALS = [/503 \(Service Unavailable\)/]

async function logIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console/#/`)
  await page.locator('input[type="password"]').fill(key)
  await page.locator('input[type="password"]').press('Enter')
  await page.locator('.cards').waitFor()
}

/** The overview works from memory: it says that the store is away, and of when its figures are. */
async function seeOldOverview(page: Page): Promise<void> {
  await page
    .locator('.store-line')
    .getByText('the store is away: its figures are from')
    .waitFor({ timeout: NOTICED_MS_MAX })
  const backlog = page.locator('.card', { hasText: 'Backlog' })
  expect(await backlog.innerText()).toContain(`${COUNT} unfinished`)
  // A person who comes now has the same overview.
  await page.reload()
  await page.locator('.store-line').getByText('the store is away').waitFor({ timeout: NOTICED_MS_MAX })
  expect(await page.locator('input[type="password"]').count()).toBe(0)
  expect(await page.locator('header .person').innerText()).toContain('ops')
  // Nothing is said to be empty that cannot be read.
  await page.locator('.recent .problem-text').waitFor({ timeout: NOTICED_MS_MAX })
  expect(await page.locator('.recent').innerText()).not.toContain('There is none yet')
}

/** A list has nothing but the store, and says so as the server does. */
async function seeRefusedList(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Transactions', exact: true }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: NOTICED_MS_MAX })
  const trouble = page.locator('.problem-text').first()
  expect(await trouble.innerText()).toMatch(/SAGA_STORE_UNAVAILABLE .*\S/)
}

describeOwn('mariadb', 'the console', () => {
  describeInBrowser('while the store is away', (browser) => {
    it('The overview stays and says what is old, nobody is logged out, and a list says why it is empty', () =>
      loseStore(browser()))
  })
})

async function loseStore(browser: Browser): Promise<void> {
  await using fixture = await startOnMariadb({
    count: 1,
    hasKeys: true,
    more: ['--store-timeout-ms', String(STORE_TIMEOUT_MS)],
  })
  const [server] = fixture.servers
  if (server?.key === undefined) throw new Error('there is a server with keys')
  const { url, key } = server
  await submitMany(
    [url],
    Array.from({ length: COUNT }, (_, number) => ({
      gid: `waits-${number}`,
      branches: [{ id: 'one', wait: { ms: 3_600_000 } }],
    })),
    { authorization: `Bearer ${key}` },
  )
  await using watched = await openPage(browser, { viewport: { width: 1280, height: 800 } })
  const { page } = watched
  await logIn(page, url, key)
  await page.getByText(`${COUNT} unfinished`).waitFor()
  await fixture.mariadb.pause()
  await seeOldOverview(page)
  await takeScreenshot(page, 'store-away-overview')
  await watched.assertAccessible('the overview while the store is away')
  await seeRefusedList(page)
  await takeScreenshot(page, 'store-away-list')
  // It is asked for while the store is still away, since the list also asks by itself once the store is back.
  await page.getByRole('button', { name: 'Try again' }).click({ timeout: NOTICED_MS_MAX })
  await fixture.mariadb.resume()
  await page.locator('tbody').getByText('waits-0').waitFor({ timeout: BACK_MS_MAX })
  // The next outage is another one: the store dies, and comes back at the same place.
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.locator('.cards').waitFor()
  await expect
    .poll(() => page.locator('.store-line').innerText(), { timeout: BACK_MS_MAX })
    .not.toContain('the store is away')
  await fixture.mariadb.kill()
  await seeOldOverview(page)
  await fixture.mariadb.restart()
  await expect
    .poll(() => page.locator('.store-line').innerText(), { timeout: BACK_MS_MAX })
    .not.toContain('the store is away')
  watched.assertClean([...REFUSALS, /401 \(Unauthorized\)/])
}
