import { expect, it } from 'vitest'
import { startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { startMendableService } from './harness/mendable-service.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

const AN_HOUR_MS = 3_600_000
const STUCK = ['stuck-1', 'stuck-2', 'stuck-3']

describeInBrowser('the next with the same problem', (browser) => {
  it('The keys lead from one stuck transaction to all others, also from one that has been mended', async () => {
    await using service = await startMendableService()
    await using server = await startConsoleServer()
    const retry = { initialMs: AN_HOUR_MS, capMs: AN_HOUR_MS, jitter: 0 }
    const { port } = new URL(service.url)
    const toSaga = (gid: string, url: string) => ({ gid, retry, branches: [{ id: 'debit', action: url }] })
    await submitMany(
      [server.url],
      [
        ...STUCK.map((gid) => toSaga(gid, `${service.url}/debit`)),
        // The same service under another name is another problem.
        toSaga('other-1', `http://localhost:${port}/debit`),
      ],
    )
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    const problem = `127.0.0.1:${port} action 500`
    await page.goto(`${server.url}/console/#/problems?${new URLSearchParams({ tab: 'retrying', problem })}`)
    await page.locator('details[open] .waiting-rows').getByRole('link', { name: 'stuck-1' }).click()
    const next = page.getByRole('link', { name: 'Next with this problem' })

    const seen: string[] = []
    for (const _ of STUCK) {
      await next.waitFor()
      const gid = await page.locator('h1').innerText()
      seen.push(gid)
      await page.keyboard.press('n')
      await page.locator('h1').getByText(gid, { exact: true }).waitFor({ state: 'detached' })
    }
    expect(seen.toSorted()).toEqual(STUCK)
    await page.locator('h1').getByText('stuck-1', { exact: true }).waitFor()

    service.mend()
    const retried = await fetch(`${server.url}/v1/transactions/stuck-1/retry`, { method: 'POST' })
    expect(retried.ok).toBe(true)
    await page.locator('.tx-facts').getByText('succeeded').waitFor()
    await next.click()
    await page
      .locator('h1')
      .getByText(/^stuck-[23]$/)
      .waitFor()
    await page.locator('.tx-facts').getByText('submitted').waitFor()

    // The pair of keys that leads to another screen is not taken apart.
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.waitForURL(/#\/new$/)
    watched.assertClean()
  })
})
