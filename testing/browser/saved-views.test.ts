import type { SavedViews } from '@counterstep/protocol'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { readFocusedName } from './harness/keyboard.ts'
import { ASKED_WHO_LOOKS, logIn } from './harness/log-in.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

const VIEW = 'Payouts that wait'

/** Reads how much of the widest entry lies outside the open menu. */
const READ_CUT_PX = `(() => {
  const menu = document.querySelector('[popover]:popover-open')
  return menu.scrollWidth - menu.clientWidth
})()`

function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` }
}

async function listViews({ url, key }: ConsoleServer): Promise<SavedViews['items']> {
  const answer = await fetch(`${url}/v1/views`, { headers: bearer(key) })
  return ((await answer.json()) as SavedViews).items
}

/** Opens the menu once the page knows the views. */
async function openViews(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('link', { name: 'Needs a person' }).waitFor()
}

describeInBrowser('saved views, on a server with keys', (browser) => {
  it('One person saves a view, another opens it, and a third removes it for all', async () => {
    await using server = await startConsoleServer({
      hasKeys: true,
      moreKeys: { watch: 'read', night: 'read,operate' },
    })
    const { url, key, keys } = server
    const branches = [{ id: 'one', action: `${url}/health/live` }]
    const bodies = ['payout', 'transfer'].map((name) => ({ gid: `${name}-1`, name, branches }))
    await submitMany([url], bodies, bearer(key))

    await using kims = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const kim = kims.page
    await logIn(kim, `${url}/console/#/list?name=payout`, key, 'kim')
    await kim.getByRole('link', { name: 'payout-1' }).waitFor()
    await openViews(kim)
    await kim.getByRole('button', { name: 'Save this view…' }).click()
    await kim.getByLabel('Name', { exact: true }).fill(VIEW)
    await kims.assertAccessible('the dialog that saves a view')
    await kim.getByRole('button', { name: 'Save', exact: true }).click()
    await kim.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await readFocusedName(kim)).toBe('Views ▾')
    const by = { person: 'kim', via: 'console', key: { name: 'ops' } }
    expect(await listViews(server)).toMatchObject([{ name: VIEW, filter: 'name=payout', by }])

    await using lees = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const lee = lees.page
    await logIn(lee, `${url}/console/#/list`, keys.watch, 'lee')
    await lee.getByRole('link', { name: 'transfer-1' }).waitFor()
    await openViews(lee)
    const link = lee.getByRole('link', { name: VIEW })
    expect(await link.getAttribute('title')).toBe(`${VIEW}, saved by kim`)
    await takeScreenshot(lee, 'saved-views-menu')
    await lees.assertAccessible('the menu of the views')
    expect(await lee.getByRole('button', { name: `Remove the view ${VIEW}` }).count()).toBe(0)
    await link.click()
    await lee.getByRole('link', { name: 'transfer-1' }).waitFor({ state: 'detached' })
    await lee.getByRole('link', { name: 'payout-1' }).waitFor()
    expect(lee.url()).toMatch(/#\/list\?name=payout$/)
    await openViews(lee)
    const save = lee.getByRole('button', { name: 'Save this view…' })
    expect(await save.isDisabled()).toBe(true)
    expect(await save.innerText()).toContain('needs the scope operate')
    expect(await lee.evaluate(READ_CUT_PX)).toBe(0)
    const [view] = await listViews(server)
    const refused = await fetch(`${url}/v1/views/${view?.id}`, {
      method: 'DELETE',
      headers: bearer(keys.watch),
    })
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'SAGA_FORBIDDEN' })

    await using noors = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const noor = noors.page
    await logIn(noor, `${url}/console/#/list`, keys.night, 'noor')
    await openViews(noor)
    await noor.getByRole('button', { name: `Remove the view ${VIEW}` }).focus()
    await noor.keyboard.press('Enter')
    await noor.getByRole('link', { name: VIEW }).waitFor({ state: 'detached' })
    expect(await listViews(server)).toEqual([])
    // The entry that had the focus is gone, and the keyboard is still in the menu.
    await noor.keyboard.press('Escape')
    expect(await readFocusedName(noor)).toBe('Views ▾')
    const read = kim.waitForResponse(`${url}/v1/views`)
    await kim.reload()
    await read
    await openViews(kim)
    expect(await kim.getByRole('link', { name: VIEW }).count()).toBe(0)
    for (const each of [kims, lees, noors]) each.assertClean([ASKED_WHO_LOOKS])
  })
})
