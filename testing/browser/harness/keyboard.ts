import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** No screen has as many places where the focus can be. */
const TABS_MAX = 120

/** Reads how a screen reader would call the element that has the focus, and whether a person sees the focus there. */
const READ_FOCUS = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: '', isSeen: true }
  const label = element.labels?.[0]?.textContent
  const name = element.getAttribute('aria-label') ?? label ?? element.textContent ?? ''
  const { top, left, bottom, right } = element.getBoundingClientRect()
  const isWithin = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  return { name: name.replaceAll(/\\s+/g, ' ').trim(), isSeen: isWithin && element.matches(':focus-visible') }
})()`

interface Focus {
  readonly name: string
  readonly isSeen: boolean
}

/** Reads the name of the element that has the focus. */
export async function readFocusedName(page: Page): Promise<string> {
  return ((await page.evaluate(READ_FOCUS)) as Focus).name
}

/** Moves the focus by the Tab key alone to the first element whose name fits. The focus is never out of sight on the way. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = []
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab')
    const focus = (await page.evaluate(READ_FOCUS)) as Focus
    expect(focus.isSeen, `the focus on "${focus.name}" is out of sight`).toBe(true)
    if (name.test(focus.name)) return
    passed.push(focus.name)
  }
  throw new Error(`Tab leads to no ${name}, only to ${passed.join(' | ')}`)
}

/** Opens a transaction as the keys help says: `/`, its gid, Enter. */
export async function openByKeys(page: Page, gid: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(gid)
  await page.keyboard.press('Enter')
  await page.locator('h1').getByText(gid, { exact: true }).waitFor()
}
