import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { readFocusedName, tabTo } from './harness/keyboard.ts'
import { type MendableService, startMendableService } from './harness/mendable-service.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

const AN_HOUR_MS = 3_600_000
const GID = 'order-1'

/** The menus, each with the button before it, and its entries that can be chosen. */
const MENUS = [
  { name: 'Panels', hash: '#/', entries: ['DTM topics', 'Settings'] },
  {
    name: 'Views',
    hash: '#/list?name=transfer',
    entries: ['Needs a person', 'Retrying', 'Paused', 'By hand', 'Undone, last 24 h', 'Save this view…'],
  },
  { name: 'More', hash: `#/tx/${GID}`, entries: ['Abort…undo what may have run', /^Stop…/] },
] as const

async function isMenuOpen(page: Page): Promise<boolean> {
  return (await page.locator('[popover]:popover-open').count()) > 0
}

async function press(page: Page, key: string): Promise<string> {
  await page.keyboard.press(key)
  return await readFocusedName(page)
}

describeInBrowser('the menus, by keyboard alone', (browser) => {
  let service: MendableService
  let server: ConsoleServer
  beforeAll(async () => {
    service = await startMendableService()
    // DTM's API brings a second panel.
    server = await startConsoleServer({ more: ['--dtm-port', '0'] })
    const branches = [{ id: 'debit', action: `${service.url}/debit`, compensation: `${service.url}/undo` }]
    const retry = { initialMs: AN_HOUR_MS, capMs: AN_HOUR_MS, jitter: 0 }
    await submitMany([server.url], [{ gid: GID, name: 'transfer', retry, branches }])
  })
  afterAll(async () => {
    for (const each of [server, service]) await each?.[Symbol.asyncDispose]()
  })

  for (const { name, hash, entries } of MENUS) {
    it(`${name} opens, its entries are reached, and Escape brings the focus back`, async () => {
      await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
      const { page } = watched
      await page.goto(`${server.url}/console/${hash}`)
      const button = page.getByRole('button', { name: `${name} ▾` })
      await button.waitFor()
      await tabTo(page, new RegExp(`^${name} ▾$`))
      const expectEntry = (focused: string, index: number) =>
        expect(focused).toMatch(entries.at(index) ?? 'no entry')

      // The arrows open the menu, and go around in it.
      expectEntry(await press(page, 'ArrowDown'), 0)
      expect(await isMenuOpen(page)).toBe(true)
      await watched.assertAccessible(`the menu ${name}`)
      for (const index of entries.keys()) {
        if (index > 0) expectEntry(await press(page, 'ArrowDown'), index)
      }
      expectEntry(await press(page, 'ArrowDown'), 0)
      expectEntry(await press(page, 'ArrowUp'), -1)
      expectEntry(await press(page, 'Home'), 0)
      expectEntry(await press(page, 'End'), -1)
      expect(await press(page, 'Escape')).toBe(`${name} ▾`)
      expect(await isMenuOpen(page)).toBe(false)

      // Enter opens it as well, and Tab leads into it.
      expect(await press(page, 'Enter')).toBe(`${name} ▾`)
      expect(await isMenuOpen(page)).toBe(true)
      expectEntry(await press(page, 'Tab'), 0)
      expect(await press(page, 'Escape')).toBe(`${name} ▾`)
      expect(await isMenuOpen(page)).toBe(false)
      watched.assertClean()
    })
  }

  it('An entry that is chosen closes the menu, and its dialog gives the focus back to the menu', async () => {
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.goto(`${server.url}/console/#/tx/${GID}`)
    await page.getByRole('button', { name: 'More ▾' }).waitFor()
    await tabTo(page, /^More ▾$/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^Abort/ }).waitFor()
    expect(await isMenuOpen(page)).toBe(false)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await readFocusedName(page)).toBe('More ▾')
    watched.assertClean()
  })
})
