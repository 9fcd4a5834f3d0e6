import { existsSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consoleDirectory } from '../build/console-directory.ts'
import { type FixtureServer, startFixtureServer } from './fixture/fixture-server.ts'
import { LONG_GID } from './fixture/transactions.ts'

const CHROMIUM = '/usr/bin/chromium'
const isMissing = !existsSync(CHROMIUM)

const SIZES = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
]

/** Each has a sign that it is whole, for which the test waits. */
const SCREENS = [
  { name: 'overview', hash: '/', sign: '.cards canvas' },
  { name: 'list', hash: '/list', sign: 'text=order-4717' },
  { name: 'transaction', hash: '/tx/order-4711', sign: '.op-panel' },
  { name: 'compared', hash: '/tx/order-4711?compare=healthy', sign: '.ghost' },
  { name: 'graph', hash: '/tx/order-4711?tab=graph', sign: '.graph-node' },
  { name: 'long gid', hash: `/tx/${encodeURIComponent(LONG_GID)}?tab=trail`, sign: '.trail' },
  { name: 'problems', hash: '/problems', sign: '.groups' },
  { name: 'services', hash: '/services', sign: 'text=gives no usable answer' },
  { name: 'names', hash: '/names', sign: '.trend' },
  { name: 'panel', hash: '/panels/keys', sign: 'text=checkout' },
  { name: 'playground', hash: '/new', sign: '.branch' },
  { name: 'command', hash: '/tx/order-4711', sign: '.op-panel', press: 'r', shows: '.plan ol' },
] as const

describe.skipIf(isMissing)('the screens in Chromium', () => {
  let browser: Browser
  let server: FixtureServer
  let stranger: FixtureServer

  beforeAll(async () => {
    const folder = await consoleDirectory()
    server = await startFixtureServer(folder, { prefix: '/behind/a/prefix' })
    stranger = await startFixtureServer(folder, { isLoggedIn: false })
    browser = await chromium.launch({ executablePath: CHROMIUM })
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    await Promise.all([server?.close(), stranger?.close()])
  })

  /** Opens pages one after the other in one tab, and gives what the browser complained of. */
  async function look(
    options: { readonly colorScheme: 'light' | 'dark'; readonly viewport: (typeof SIZES)[number] },
    visit: (page: Page) => Promise<void>,
  ): Promise<readonly string[]> {
    const context = await browser.newContext(options)
    const complaints: string[] = []
    try {
      const page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        // The browser itself tells of an answer that refuses, which is no fault of the page.
        if (message.type() === 'error' && !message.text().includes('status of 401'))
          complaints.push(message.text())
      })
      await page.addInitScript(
        "document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
      )
      await visit(page)
    } finally {
      await context.close()
    }
    return complaints
  }

  async function findBarriers(page: Page): Promise<readonly string[]> {
    const { violations } = await new AxeBuilder({ page }).analyze()
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of SIZES) {
      it(`S30: Every screen at ${viewport.width} in ${colorScheme} has no barrier, no violation and no sideways scroll`, async () => {
        const faults: string[] = []
        const complaints = await look({ colorScheme, viewport }, async (page) => {
          for (const screen of SCREENS) {
            await page.goto(`${server.url}#${screen.hash}`)
            await page.locator(screen.sign).first().waitFor()
            if ('press' in screen) {
              await page.keyboard.press(screen.press)
              await page.locator(screen.shows).waitFor()
            }
            faults.push(...(await findBarriers(page)).map((fault) => `${screen.name}: ${fault}`))
            const width = await page.evaluate<number>('document.documentElement.scrollWidth')
            if (width > viewport.width) faults.push(`${screen.name} is ${width} wide`)
          }
          await page.goto(stranger.url)
          await page.locator('input[type=password]').waitFor()
          faults.push(...(await findBarriers(page)).map((fault) => `login: ${fault}`))
        })
        expect(faults).toEqual([])
        expect(complaints).toEqual([])
      }, 120_000)
    }
  }

  it('A command is given by keyboard alone, and what came of it stays shown', async () => {
    const complaints = await look(
      { colorScheme: 'light', viewport: SIZES[0] ?? { width: 1280, height: 800 } },
      async (page) => {
        await page.goto(`${server.url}#/list`)
        await page.locator('text=order-4711').first().waitFor()
        await page.keyboard.press('j')
        await page.keyboard.press('Enter')
        await page.locator('.op-panel').waitFor()
        await page.keyboard.press('r')
        await page.locator('.plan ol').waitFor()
        await page.keyboard.type('the bank is mended')
        await page.keyboard.press('Tab')
        await page.keyboard.press('Space')
        await page.locator('dialog button.primary:enabled').waitFor()
        await page.locator('dialog button.primary').focus()
        await page.keyboard.press('Enter')
        await page.locator('text=given, durable').waitFor()
      },
    )
    expect(complaints).toEqual([])
  })

  it('S30: A text from outside stays a text', async () => {
    const complaints = await look(
      { colorScheme: 'light', viewport: SIZES[0] ?? { width: 1280, height: 800 } },
      async (page) => {
        for (const tab of ['timeline', 'trail', 'json', 'table']) {
          await page.goto(`${server.url}#/tx/order-4711?tab=${tab}`)
          await page.locator('.op-panel').waitFor()
          expect(await page.locator('img').count()).toBe(0)
        }
      },
    )
    expect(complaints).toEqual([])
  })
})
