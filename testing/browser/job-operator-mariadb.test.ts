import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { ConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { openByKeys, tabTo } from './harness/keyboard.ts'
import { startOnMariadb } from './harness/mariadb-servers.ts'
import { type MendableService, SOUND_PATH, startMendableService } from './harness/mendable-service.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

const SERVERS = 3
/** The service as the servers know it. */
const BANK = 'bank-a'
const STUCK = 500
/** One is skipped and one is edited before the others are retried. */
const RETRIED = STUCK - 2
const SKIPPED = 'order-000'
const EDITED = 'order-001'
const SKIP_REASON = 'the books say that it was debited'
const EDIT_REASON = 'the service has moved'
const AN_HOUR_MS = 3_600_000
const JOB_MS_MAX = 60_000
const VIEWPORT = { width: 1280, height: 800 }

/** Sagas that wait for an hour after their first failure go on by a command alone. */
async function strand(servers: readonly ConsoleServer[]): Promise<void> {
  const bodies = Array.from({ length: STUCK }, (_, number) => ({
    gid: `order-${String(number).padStart(3, '0')}`,
    name: 'transfer',
    retry: { initialMs: AN_HOUR_MS, capMs: AN_HOUR_MS, jitter: 0 },
    branches: [{ id: 'debit', action: `${BANK}:/debit`, compensation: `${BANK}:/undo` }],
  }))
  await submitMany(
    servers.map(({ url }) => url),
    bodies,
  )
}

/** The operator finds the stuck transactions as one problem, which says in words what is wrong. */
async function seeOneProblem(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/console/#/problems?tab=retrying`)
  const group = page.locator('.groups > li')
  await group.getByText(String(STUCK), { exact: true }).first().waitFor({ timeout: JOB_MS_MAX })
  expect(await group.count()).toBe(1)
  const words = await group.first().innerText()
  expect(words).toContain(`${BANK} action 500`)
  expect(words).toContain('The service runs and fails')
  await takeScreenshot(page, 'job-b-problem')
}

/** All by keys: no mouse, and no focus that the browser has not moved itself. */
async function skipByKeys(page: Page): Promise<void> {
  await openByKeys(page, SKIPPED)
  await tabTo(page, /^debit.*action, waiting/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Skip…$/)
  await page.keyboard.press('Enter')
  await page.getByText('What will happen').waitFor()
  await tabTo(page, /^Reason/)
  await page.keyboard.type(SKIP_REASON)
  await takeScreenshot(page, 'job-b-skip')
  await tabTo(page, /^Skip the action of debit/)
  await page.keyboard.press('Enter')
  await page.getByText('given, durable').waitFor()
  await tabTo(page, /^Close$/)
  await page.keyboard.press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

async function editByKeys(page: Page): Promise<void> {
  await openByKeys(page, EDITED)
  await tabTo(page, /^debit.*action, waiting/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Edit…$/)
  await page.keyboard.press('Enter')
  await page.locator('.edit-fields').waitFor()
  await tabTo(page, /^URL/)
  await page.keyboard.press('Control+A')
  await page.keyboard.type(`${BANK}:${SOUND_PATH}/debit`)
  await tabTo(page, /^Reason/)
  await page.keyboard.type(EDIT_REASON)
  await tabTo(page, /no call of this op took effect/)
  await page.keyboard.press('Space')
  expect(await page.locator('.plan').innerText()).toContain(`${BANK}:${SOUND_PATH}/debit`)
  await takeScreenshot(page, 'job-b-edit')
  await tabTo(page, /^Edit the action of debit/)
  await page.keyboard.press('Enter')
  await page.getByText('given, durable').waitFor()
}

/** Only tells stuck from slow: a lease is ten seconds. */
const TAKE_OVER_MS_MAX = 60_000

/** The trails of both, in the console of this server. */
async function readTrails(page: Page, url: string): Promise<void> {
  for (const { gid, command, reason } of [
    { gid: SKIPPED, command: 'skip', reason: SKIP_REASON },
    { gid: EDITED, command: 'edit', reason: EDIT_REASON },
  ]) {
    await page.goto(`${url}/console/#/tx/${gid}?tab=trail`)
    await page.locator('h1').getByText(gid, { exact: true }).waitFor()
    const entries = page.locator('.trail > li')
    await entries.first().waitFor()
    expect(await entries.count()).toBe(1)
    const words = await entries.first().innerText()
    expect(words).toContain(`${command} of debit action`)
    expect(words).toContain(reason)
    // The killed server may have owned it, so another one takes it over once the lease has ended.
    await page.locator('header').getByText('succeeded').first().waitFor({ timeout: TAKE_OVER_MS_MAX })
  }
}

async function retryAll(page: Page, url: string, service: MendableService): Promise<void> {
  await page.goto(`${url}/console/#/problems?tab=retrying`)
  await page.getByRole('button', { name: `Retry ${RETRIED}…` }).click()
  await page.getByText(`${RETRIED} match`).waitFor()
  service.mend()
  await page.getByLabel(/^Reason/).fill('the bank is restarted')
  await page.getByLabel(/^At most/).fill('500')
  await page.getByRole('button', { name: `Retry ${RETRIED} transactions` }).click()
  await page.getByText('It is done.').waitFor({ timeout: JOB_MS_MAX })
  await takeScreenshot(page, 'job-b-done')
  const shares = (await page.locator('table.shares').innerText()).replaceAll(/\s+/g, ' ')
  expect(shares).toMatch(
    new RegExp(`got on ${RETRIED} failed again 0 .* refused 0 .* waiting 0 together ${RETRIED}`),
  )
  await page.getByRole('link', { name: /^Problems/ }).click()
  await page.getByRole('link', { name: /^Retrying/ }).click()
  await page.getByText('Nothing is being retried').waitFor()
}

/** Only tells stuck from slow. */
const TEST_MS_MAX = 240_000

describeOwn('mariadb', 'the job of the operator', () => {
  describeInBrowser('three servers on one store', (browser) => {
    it(
      '500 that wait for one bank are mended, two of them by keys alone, and no command is lost in a kill',
      () => mendAll(browser()),
      TEST_MS_MAX,
    )
  })
})

async function mendAll(browser: Browser): Promise<void> {
  await using service = await startMendableService()
  const more = ['--services', `${BANK}=${service.url}`]
  await using fixture = await startOnMariadb({ count: SERVERS, more })
  const [taker, other] = fixture.servers
  if (taker === undefined || other === undefined) throw new Error('there are three servers')
  await strand(fixture.servers)
  await using watched = await openPage(browser, { viewport: VIEWPORT })
  const { page } = watched
  await seeOneProblem(page, taker.url)
  await skipByKeys(page)
  await editByKeys(page)
  await taker.process.kill()
  // The page has lost its server, which the browser says in its own words.
  watched.assertClean([/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING/])
  await using another = await openPage(browser, { viewport: VIEWPORT })
  await readTrails(another.page, other.url)
  await retryAll(another.page, other.url, service)
  another.assertClean()
  const restarted = await fixture.startAnother(Number(new URL(taker.url).port))
  await using again = await openPage(browser, { viewport: VIEWPORT })
  await readTrails(again.page, restarted.url)
  again.assertClean()
  // Each retried one was called once. The call of the edited one was under way in the kill, and may have been sent again.
  const answered = new Map(service.answeredByGid)
  expect(answered.delete(EDITED)).toBe(true)
  expect([answered.size, answered.has(SKIPPED)]).toEqual([RETRIED, false])
  expect(new Set(answered.values())).toEqual(new Set([1]))
}
