import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '../src/style')
/** Every page has these from the start, so they may say the same of a part as the sheet of a screen. */
const EVERYWHERE = ['base.css', 'parts.css', 'tokens.css']

/** Lists the selectors of a sheet, those within a media query too. */
function listSelectors(css: string): ReadonlySet<string> {
  const rules = css.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{/g)
  const selectors = [...rules].flatMap(([, head = '']) =>
    head.trim().startsWith('@') ? [] : head.split(','),
  )
  return new Set(selectors.map((each) => each.trim()))
}

it('No two screens style the same selector, since a sheet that was loaded once stays', () => {
  const sheets = new Map<string, string[]>()
  for (const name of readdirSync(FOLDER).filter((each) => !EVERYWHERE.includes(each))) {
    for (const selector of listSelectors(readFileSync(join(FOLDER, name), 'utf8'))) {
      sheets.set(selector, [...(sheets.get(selector) ?? []), name])
    }
  }
  expect(sheets.size).toBeGreaterThan(100)
  expect([...sheets].filter(([, names]) => names.length > 1)).toEqual([])
})
