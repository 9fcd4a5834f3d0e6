import { writeAlert } from '@counterstep/explain'
import type { AlertBody, AlertFacts, TransactionView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { startMendableService } from './harness/mendable-service.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { type LoopbackService, serveOnLoopback } from './harness/serve-on-loopback.ts'
import { openPage } from './harness/watched-page.ts'

const STUCK = 60
const AN_HOUR_MS = 3_600_000

/** Sagas that wait for an hour after their first failure go on by a command alone. */
async function strand({ url }: ConsoleServer, serviceUrl: string): Promise<void> {
  for (let number = 0; number < STUCK; number++) {
    const body = {
      gid: `order-${String(number).padStart(3, '0')}`,
      name: 'transfer',
      retry: { initialMs: AN_HOUR_MS, capMs: AN_HOUR_MS, jitter: 0 },
      branches: [{ id: 'debit', action: `${serviceUrl}/debit`, compensation: `${serviceUrl}/undo` }],
    }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${url}/v1/transactions`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
}

/** Its second branch is refused, and so is the compensation of the first. */
async function strandForPerson(server: ConsoleServer, serviceUrl: string): Promise<void> {
  const gid = `of-${new URL(serviceUrl).hostname}`
  const compensation = `${serviceUrl}/refuse`
  const body = {
    gid,
    branches: [
      { id: 'debit', action: `${serviceUrl}/debit`, compensation },
      { id: 'credit', action: `${serviceUrl}/refuse`, compensation },
    ],
  }
  const headers = { 'content-type': 'application/json' }
  await fetch(`${server.url}/v1/transactions`, { method: 'POST', headers, body: JSON.stringify(body) })
  await expect.poll(async () => (await readTransaction(server, gid)).attention).toBeTruthy()
}

function startRefusingService(): Promise<LoopbackService> {
  return serveOnLoopback((request, response) => {
    request.resume()
    response.statusCode = request.url?.startsWith('/refuse') === true ? 409 : 200
    response.end()
  })
}

async function readTransaction({ url }: ConsoleServer, gid: string): Promise<TransactionView> {
  return (await (await fetch(`${url}/v1/transactions/${gid}`)).json()) as TransactionView
}

describeInBrowser('the job of the operator', (browser) => {
  it('Many that wait for one bank are one problem, and a bulk retry with canaries empties it', async () => {
    await using service = await startMendableService()
    await using server = await startConsoleServer()
    await strand(server, service.url)
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.goto(`${server.url}/console/#/problems?tab=retrying`)
    const group = page.locator('.groups > li')
    await group.getByText(String(STUCK), { exact: true }).first().waitFor()
    expect(await group.count()).toBe(1)
    expect(await group.first().innerText()).toContain('action 500')
    await page.getByRole('button', { name: `Retry ${STUCK}…` }).waitFor()
    await takeScreenshot(page, 'job-operator-problems')
    await page.getByRole('button', { name: `Retry ${STUCK}…` }).click()
    await page.getByText(`${STUCK} match`).waitFor()
    await takeScreenshot(page, 'job-operator-bulk-dialog')
    await watched.assertAccessible('the dialog of a bulk job')
    service.mend()
    await page.getByLabel(/^Reason/).fill('the bank is restarted')
    await page.getByLabel(/^At most/).fill('10')
    await page.getByRole('button', { name: `Retry ${STUCK} transactions` }).click()
    await page.getByText(/All others get the command|It is done/).waitFor({ timeout: 60_000 })
    await takeScreenshot(page, 'job-operator-bulk-running')
    await page.getByText('It is done.').waitFor({ timeout: 60_000 })
    await takeScreenshot(page, 'job-operator-bulk-done')
    await watched.assertAccessible('a bulk job')
    const shares = await page.locator('table.shares').innerText()
    expect(shares.replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`got on ${STUCK} failed again 0 .* refused 0 .* waiting 0 together ${STUCK}`),
    )
    expect(service.callsAnswered).toBe(STUCK)
    await page.getByRole('link', { name: /^Problems/ }).click()
    // Figures that are a few seconds old may still speak of some that are being retried, with a link of that name too.
    const tabs = page.getByRole('navigation', { name: 'Kinds of problem' })
    await tabs.getByRole('link', { name: /^Retrying/ }).click()
    await page.getByText('Nothing is being retried').waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByText('Nothing needs a person').waitFor()
    await takeScreenshot(page, 'job-operator-overview')
    const { trail, status } = await readTransaction(server, 'order-007')
    expect(status).toBe('succeeded')
    expect(trail).toMatchObject([{ command: 'retry', reason: 'the bank is restarted', by: { via: 'bulk' } }])
    watched.assertClean()
  })

  it('The link of an alert opens its own problem among others', async () => {
    await using service = await startRefusingService()
    await using server = await startConsoleServer()
    const { port } = new URL(service.url)
    for (const host of ['127.0.0.1', 'localhost']) await strandForPerson(server, `http://${host}:${port}`)
    const facts: AlertFacts = {
      ...{ rule: 'attention', state: 'open', problem: `localhost:${port} compensate 409` },
      ...{ count: 1, since: 0, names: [], sampleGids: [] },
    }
    const { link } = JSON.parse(writeAlert('json', facts, server.url)) as AlertBody
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.goto(link)
    const open = page.locator('.groups details[open]')
    await open.first().waitFor()
    expect(await page.locator('.groups > li').count()).toBe(2)
    expect(await open.count()).toBe(1)
    expect(await open.locator('.group-name').innerText()).toBe(facts.problem)
    await open.getByRole('link', { name: 'of-localhost' }).waitFor()
    watched.assertClean()
  })

  it('One is skipped by keyboard alone, with a reason that its trail keeps', async () => {
    await using service = await startMendableService()
    await using server = await startConsoleServer()
    await strand(server, service.url)
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.goto(`${server.url}/console/#/tx/order-000?op=debit.action`)
    const skip = page.getByRole('button', { name: 'Skip…' })
    await skip.waitFor()
    await skip.focus()
    await page.keyboard.press('Enter')
    const reason = page.getByLabel(/^Reason/)
    await reason.waitFor()
    await reason.focus()
    await page.keyboard.type('the books say that it was debited')
    const give = page.locator('dialog button.primary')
    await expect.poll(() => give.isEnabled()).toBe(true)
    await give.focus()
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => (await readTransaction(server, 'order-000')).status, { timeout: 10_000 })
      .toBe('succeeded')
    await takeScreenshot(page, 'job-operator-skipped')
    const { trail } = await readTransaction(server, 'order-000')
    expect(trail).toMatchObject([{ command: 'skip', reason: 'the books say that it was debited' }])
    watched.assertClean()
  })
})
