import { readFile } from 'node:fs/promises'
import type { TransactionPage } from '@counterstep/protocol'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { ASKED_WHO_LOOKS, logIn } from './harness/log-in.ts'
import { type LoopbackService, serveOnLoopback } from './harness/serve-on-loopback.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

/** A page of the list has fifty rows. */
const ORDINARY = 60
/** A spreadsheet takes each of these for a formula, and the comma of the first one for the end of a cell. */
const FORMULAS = ['=HYPERLINK(1)&A1,2', '+1+2', '-1+2', '@SUM(A1:A9)']
const ENDED_MS_MAX = 10_000
const SECRET = 'only-for-payloads'
const COLUMNS = [
  ...['gid', 'name', 'kind', 'status', 'problem', 'attempts', 'attention', 'retrying'],
  ...['paused', 'byHand', 'edited', 'accepted', 'updated', 'tags'],
]

interface SavedFile {
  readonly name: string
  readonly text: string
}

/** Presses the button of a format, and reads what the browser saves. */
async function saveAs(page: Page, format: 'CSV' | 'JSON' | 'gids'): Promise<SavedFile> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: format, exact: true }).click()
  const download = await saved
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

describeInBrowser('the export of the list', (browser) => {
  let server: ConsoleServer
  let service: LoopbackService
  beforeAll(async () => {
    server = await startConsoleServer({ hasKeys: true, moreKeys: { watch: 'read', shop: 'submit' } })
    service = await serveOnLoopback((asked, answer) => {
      asked.resume()
      answer.end()
    })
    const branches = [{ id: 'one', action: service.url, payload: { secret: SECRET } }]
    const gids = Array.from({ length: ORDINARY }, (_, index) => `order-${index}`)
    const tags = { region: 'eu', note: '=1+2' }
    const bodies = [
      ...gids.map((gid) => ({ gid, name: 'transfer', branches })),
      ...FORMULAS.map((gid) => ({ gid, name: '-formula', tags, branches })),
    ]
    await submitMany([server.url], bodies, { authorization: `Bearer ${server.key}` })
  })
  afterAll(async () => {
    for (const each of [server, service]) await each?.[Symbol.asyncDispose]()
  })

  async function readPage(query: string): Promise<TransactionPage> {
    const answer = await fetch(`${server.url}/v1/transactions?${query}`, {
      headers: { authorization: `Bearer ${server.key}` },
    })
    return (await answer.json()) as TransactionPage
  }

  it('A key that may only look saves the rows that are shown, in each format, without payloads and formulas', async () => {
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    const query = 'status=succeeded&name=-formula'
    await expect
      .poll(async () => (await readPage(query)).items.length, { timeout: ENDED_MS_MAX })
      .toBe(FORMULAS.length)
    const { items } = await readPage(query)
    await logIn(page, `${server.url}/console/#/list?${query}`, server.keys.watch)
    await page.getByText(`${FORMULAS.length} rows shown`).waitFor()

    const json = await saveAs(page, 'JSON')
    expect(json.name).toBe('transactions.json')
    expect(JSON.parse(json.text)).toEqual(items)
    await page.getByText(`${FORMULAS.length} rows saved`).waitFor()

    const gids = await saveAs(page, 'gids')
    expect(gids).toEqual({ name: 'transactions.txt', text: items.map(({ gid }) => `${gid}\n`).join('') })

    const csv = await saveAs(page, 'CSV')
    expect(csv.name).toBe('transactions.csv')
    const [head, ...lines] = csv.text.split('\r\n')
    expect(head?.split(',')).toEqual(COLUMNS)
    expect(lines.pop()).toBe('')
    const begins = items.map(
      ({ gid }) => `${gid.includes(',') ? `"'${gid}"` : `'${gid}`},'-formula,saga,succeeded,`,
    )
    expect(lines.map((line, index) => line.slice(0, begins[index]?.length))).toEqual(begins)
    for (const line of lines) expect(line).toMatch(/,(?:note:=1\+2 region:eu|region:eu note:=1\+2)$/)
    // No cell of the file begins as a formula does.
    expect(csv.text).not.toMatch(/(?:^|[,"\n])[=+\-@]/)

    for (const { text } of [json, gids, csv]) expect(text).not.toContain(SECRET)
    watched.assertClean([ASKED_WHO_LOOKS])
  })

  it('All that match are saved, and not only the page', async () => {
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await logIn(page, `${server.url}/console/#/list?name=transfer`, server.keys.watch)
    await page.getByText('50 rows shown').waitFor()
    const shown = await saveAs(page, 'gids')
    expect(shown.text.trimEnd().split('\n')).toHaveLength(50)
    await page.getByLabel('Export').selectOption('all')
    const all = await saveAs(page, 'gids')
    const expected = Array.from({ length: ORDINARY }, (_, index) => `order-${index}`)
    expect(all.text.trimEnd().split('\n').toSorted()).toEqual(expected.toSorted())
    await page.getByText(`${ORDINARY} rows saved`).waitFor()
    watched.assertClean([ASKED_WHO_LOOKS])
  })

  it('A key that may not look is told so, and is offered no export', async () => {
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await logIn(page, `${server.url}/console/#/list`, server.keys.shop)
    await page.getByText('The list cannot be shown').waitFor()
    await page.getByText('SAGA_FORBIDDEN').first().waitFor()
    expect(await page.getByLabel('Export').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'CSV' }).count()).toBe(0)
    watched.assertClean([ASKED_WHO_LOOKS, /403 \(Forbidden\)/])
  })
})
