import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { REPOSITORY } from '../repository/source-tree.ts'
import { findThreePorts } from './harness/free-ports.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { type StartedProcess, startProcess } from './harness/started-process.ts'
import { openPage } from './harness/watched-page.ts'

const START_MS_MAX = 30_000

/** The row of the credit's URL, with its menu of breaks. */
function findCredit(page: Page) {
  const branch = page.locator('fieldset.branch').filter({ has: page.getByText('credit', { exact: true }) })
  return branch.locator('.url-row').first()
}

/** Submits what stands in the playground, and waits for the end of the transaction. */
async function submitAndSee(page: Page, status: 'succeeded' | 'failed'): Promise<void> {
  await page.getByRole('button', { name: 'Submit' }).click()
  await page.waitForURL(/#\/tx\//)
  await page.locator('main').getByText(status).first().waitFor()
}

describeInBrowser('job a: a developer', (browser) => {
  let folder = ''
  let demo: StartedProcess
  let consoleUrl = ''
  let startedMs = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterstep-job-a-'))
    const port = await findThreePorts()
    const begunAt = performance.now()
    const program = join(REPOSITORY, 'scripts/demo.ts')
    demo = startProcess([program, '--port', String(port), '--data', folder])
    await demo.find(/failed.* in \d+ ms/)
    startedMs = performance.now() - begunAt
    consoleUrl = (await demo.find(/^Console +http.*/)).replace(/^Console +/, '')
  })
  afterAll(async () => {
    await demo?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('The first transfer that is undone has ended 30 s after the start', () => {
    expect(startedMs).toBeLessThan(START_MS_MAX)
  })

  it('Both transfers of the demo stand in the console that it names, the second with its undo', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await page.goto(consoleUrl)
    await page.locator('tbody').getByText('succeeded').first().waitFor()
    await takeScreenshot(page, 'job-a-list')
    await page.locator('tbody tr').filter({ hasText: 'failed' }).getByRole('link').first().click()
    await page.locator('.lane[data-direction="undo"]').first().waitFor()
    await takeScreenshot(page, 'job-a-undone')
    watched.assertClean()
  })

  it('A developer breaks the credit, watches the transfer turn around, edits it, and runs it again', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await page.goto(consoleUrl.replace(/#.*/, '#/new'))
    await findCredit(page).getByRole('combobox').selectOption('answer-409')
    await page.locator('.break[data-broken="true"]').waitFor()
    await takeScreenshot(page, 'job-a-playground')
    await submitAndSee(page, 'failed')
    await page.getByText('broken on purpose').first().waitFor()
    await takeScreenshot(page, 'job-a-turned-around')
    await page.goto(`${page.url().replace(/\?.*/, '')}?tab=request`)
    // The request may hold secrets, so that it is shown only to a person who asks for it.
    await page.getByRole('button', { name: 'Show the request' }).click()
    await page.getByRole('link', { name: 'Open in the playground' }).click()
    await page.waitForURL(/#\/new\?from=/)
    await submitAndSee(page, 'succeeded')
    await takeScreenshot(page, 'job-a-run-again')
    watched.assertClean()
  })
})
