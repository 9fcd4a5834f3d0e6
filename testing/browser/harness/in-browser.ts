import { findProgram, readEnvironment } from '@counterstep/test-servers'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'

const START_MS_MAX = 30_000

const found = await findProgram('chromium')

/** Gives the browser of a file's tests, which starts before the first of them. */
export type OpenBrowser = () => Browser

/**
 * Defines tests in Debian's Chromium. Where there is none, one test stands in their place: it is skipped by name, and
 * fails in CI.
 */
export function describeInBrowser(title: string, define: (browser: OpenBrowser) => void): void {
  if (found.type === 'missing') {
    describe(title, () => {
      it('The browser of these tests is there', (context) => {
        if (readEnvironment().isCi) throw new Error(found.reason)
        context.skip(`${found.reason} (Debian: apt-get install chromium)`)
      })
    })
    return
  }
  const { path } = found
  describe(title, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      browser = await launch(path)
    })
    afterAll(() => browser?.close())
    define(() => {
      if (browser === undefined) throw new Error('the browser has not started')
      return browser
    })
  })
}

function launch(executablePath: string): Promise<Browser> {
  // The sandbox of Chromium does not start for root. The pages of these tests are our own.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath,
    chromiumSandbox: !isRoot,
    timeout: START_MS_MAX,
    // It would ask the network for updates and lists.
    args: ['--disable-background-networking', '--disable-component-update', '--no-first-run'],
  })
}
