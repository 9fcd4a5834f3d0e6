import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

const ACTION_MS_MAX = 10_000
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The page tells each thing that its policy has forbidden. A name that the console does not use stands for the test. */
const TELL_VIOLATIONS = `
  document.addEventListener('securitypolicyviolation', (event) => {
    window.counterstepTestViolation(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
  })
`

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  /** Expects that the page has done nothing that it must not do, but for faults that one of the patterns fits. */
  assertClean(expected?: readonly RegExp[]): void
  /** Expects that axe finds nothing on the page as it is now. A failure shows the name. */
  assertAccessible(name?: string): Promise<void>
}

/** Opens a page in a context of its own, and keeps all that goes wrong in it. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' })
  context.setDefaultTimeout(ACTION_MS_MAX)
  const faults: string[] = []
  await context.exposeBinding('counterstepTestViolation', (_source, text: string) => {
    faults.push(`forbidden by the policy: ${text}`)
  })
  await context.addInitScript({ content: TELL_VIOLATIONS })
  const page = await context.newPage()
  hearFaults(page, faults)
  return {
    page,
    assertClean(expected = []) {
      expect(faults.filter((fault) => !expected.some((each) => each.test(fault)))).toEqual([])
    },
    assertAccessible: async (name) => expect(await findAxeFaults(page), name).toEqual([]),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

function hearFaults(page: Page, faults: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`))
  page.on('request', (request) => {
    const { origin } = new URL(request.url())
    const own = new URL(page.url() === 'about:blank' ? request.url() : page.url()).origin
    // Nothing from outside is loaded.
    if (origin !== own && !request.url().startsWith('data:')) faults.push(`asked elsewhere: ${request.url()}`)
  })
}

async function findAxeFaults(page: Page): Promise<readonly string[]> {
  // Without its legacy mode, axe opens a page of its own, which the policy has no say in.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).withTags(AXE_TAGS).analyze()
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${String(target)}: ${failureSummary}`),
  )
}
