import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { REPOSITORY } from '../../repository/source-tree.ts'

/** A person who changes a screen looks at these. The folder is not kept in the repository. */
const FOLDER = join(REPOSITORY, '.tmp', 'screenshots')

/** Writes what the page shows to a file of this name. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  // The shade of an open dialog covers the window alone, and not the rest of the page.
  const fullPage = (await page.locator('dialog[open]').count()) === 0
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage, animations: 'disabled' })
}
