import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { REPOSITORY } from '../repository/source-tree.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { type StartedProcess, startProcess } from './harness/started-process.ts'
import { openPage } from './harness/watched-page.ts'

const START_MS_MAX = 30_000

describeInBrowser('job a: a developer', (browser) => {
  let folder = ''
  let demo: StartedProcess
  let consoleUrl = ''
  let startedMs = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterstep-job-a-'))
    const begunAt = performance.now()
    demo = startProcess([join(REPOSITORY, 'scripts/demo.ts'), '--port', '0', '--data', folder])
    await demo.find(/failed.* in \d+ ms/)
    startedMs = performance.now() - begunAt
    consoleUrl = (await demo.find(/^Console +http.*/)).replace(/^Console +/, '')
  })
  afterAll(async () => {
    await demo[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('The first transfer that is undone has ended 30 s after the start', () => {
    expect(startedMs).toBeLessThan(START_MS_MAX)
  })

  it('Both transfers of the demo stand in the console that it names', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await page.goto(consoleUrl)
    await page.getByText('succeeded').first().waitFor()
    await page.getByText('failed').first().waitFor()
    await takeScreenshot(page, 'job-a-list')
    watched.assertClean()
  })
})
