import type { OverviewView } from '@counterstep/protocol'
import { until } from '@counterstep/test-servers/until'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Browser, Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from './harness/in-browser.ts'
import { startOnMariadb } from './harness/mariadb-servers.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { startSlowService } from './harness/slow-service.ts'
import { submitMany } from './harness/submit-many.ts'
import { openPage } from './harness/watched-page.ts'

const SERVERS = 3
const SLOW_MS = 1_200
/** The services as the servers know them. */
const SLOW = 'ledger'
const QUICK = 'bank-a'
const AN_HOUR_MS = 3_600_000
/** A node tells the others of itself each 15 s, and is gone after 45 s of silence. */
const GONE_MS_MAX = 90_000
const LIST_MS_MAX = 10_000
const VIEWPORT = { width: 1280, height: 800 }

/** How many transactions there are of each fate. One page of the list shows all of them. */
const FATES = { slow: 12, quick: 8, undone: 5, stuck: 4, paused: 2, stopped: 1 } as const
type Fate = keyof typeof FATES

async function give(url: string, gid: string, command: string): Promise<void> {
  const answer = await fetch(`${url}/v1/transactions/${gid}/${command}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'a test of the overview' }),
  })
  if (!answer.ok) throw new Error(`${command} of ${gid}: ${answer.status} ${await answer.text()}`)
}

async function readOverview(url: string): Promise<OverviewView> {
  return (await (await fetch(`${url}/v1/overview`)).json()) as OverviewView
}

/** Makes transactions of each fate, and waits until the servers have counted the ends. */
async function makeAll(urls: readonly string[]): Promise<void> {
  const build = (fate: Fate, paths: readonly string[]) =>
    Array.from({ length: FATES[fate] }, (_, number) => ({
      gid: `${fate}-${number}`,
      name: fate === 'slow' || fate === 'undone' ? fate : 'other',
      retry: { initialMs: AN_HOUR_MS, capMs: AN_HOUR_MS, jitter: 0 },
      branches: paths.map((action, index) => ({
        id: `branch-${index}`,
        action,
        compensation: `${QUICK}:/undo`,
      })),
    }))
  await submitMany(urls, [
    ...build('slow', [`${SLOW}:/works`]),
    ...build('quick', [`${QUICK}:/works`]),
    ...build('undone', [`${QUICK}:/works`, `${QUICK}:/refuses`]),
    ...build('stuck', [`${QUICK}:/fails`]),
    ...build('paused', [`${QUICK}:/fails`]),
    ...build('stopped', [`${QUICK}:/fails`]),
  ])
  const [url = ''] = urls
  for (let number = 0; number < FATES.paused; number++) await give(url, `paused-${number}`, 'pause')
  for (let number = 0; number < FATES.stopped; number++) await give(url, `stopped-${number}`, 'stop')
}

async function waitForOverview(
  url: string,
  what: string,
  isThere: (view: OverviewView) => boolean,
): Promise<void> {
  let seen: OverviewView | undefined
  await until(
    () => `${what}: ${JSON.stringify(seen)}`,
    GONE_MS_MAX,
    async () => {
      seen = await readOverview(url)
      return isThere(seen)
    },
  )
}

function hasAll({ minutes, unfinished, paused }: OverviewView): boolean {
  const counted = minutes.reduce((sum, each) => sum + each.succeeded + each.failed + each.stopped, 0)
  const isEnded = counted === FATES.slow + FATES.quick + FATES.undone + FATES.stopped
  return isEnded && paused === FATES.paused && unfinished.submitted === FATES.stuck + FATES.paused
}

/** Expects that the element is wholly in what is seen without scrolling, and returns its words. */
async function readInSight(page: Page, element: Locator): Promise<string> {
  await element.waitFor()
  const box = await element.boundingBox()
  expect(await page.evaluate('scrollY')).toBe(0)
  expect(box).not.toBeNull()
  const { x = -1, y = -1, width = 0, height = 0 } = box ?? {}
  expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(VIEWPORT.width)
  expect(y + height).toBeLessThanOrEqual(VIEWPORT.height)
  return await element.innerText()
}

interface NumberLink {
  readonly href: string
  readonly words: string
  /** The number that the words hold, if it counts transactions. */
  readonly count: number | undefined
}

async function listLinks(page: Page): Promise<readonly NumberLink[]> {
  const links = await page.locator('.cards a').all()
  return await Promise.all(
    links.map(async (link) => {
      const words = (await link.innerText()).trim()
      return {
        href: /#.*/.exec((await link.getAttribute('href')) ?? '')?.[0] ?? '',
        words,
        count: readCount(words),
      }
    }),
  )
}

/** A duration is no count, a share is none, and the list does not know which of its rows a node holds. */
function readCount(words: string): number | undefined {
  if (/\d (ms|s|min|h)\b|in flight|^\d+ of |^\d+:|now|ago/.test(words)) return undefined
  const count = /^\D*(\d[\d,]*)/.exec(words.replaceAll(/[\d.]+ %/g, ''))?.[1]
  return count === undefined ? undefined : Number(count.replaceAll(',', ''))
}

/** Finds the numbers that lead nowhere. Those of the nodes and the shares count no transactions. */
async function findNumbersWithoutLink(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('.cards .card')].flatMap((card) => {
    const title = card.querySelector('h2').textContent
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode()) {
      const { parentElement: parent, textContent: text } = walker.currentNode
      const isFollowed = parent.closest('a, h2, .unseen, .chart') !== null
      const isNoCount = title === 'Nodes' || /^p\\d\\d$|%$/.test(text)
      if (/\\d/.test(text) && !isFollowed && !isNoCount) found.push(title + ': ' + text)
    }
    return found
  })`)) as string[]
}

async function followAll(page: Page, url: string): Promise<void> {
  const links = await listLinks(page)
  expect(links.length).toBeGreaterThan(15)
  for (const { href, words, count } of links) {
    await page.goto(`${url}/console/${href}`)
    const where = `"${words}" leads to ${href}`
    if (href.startsWith('#/list')) {
      const rows = page.locator('section.list tbody tr')
      await rows.first().waitFor()
      if (count !== undefined)
        await expect.poll(() => rows.count(), { message: where, timeout: LIST_MS_MAX }).toBe(count)
    } else if (href === '#/names' || href === '#/services') {
      await page.locator('main tbody tr').first().waitFor()
    } else if (href.startsWith('#/services')) {
      await page.locator('tbody[data-named="true"] .op-row').first().waitFor()
    } else if (href.startsWith('#/problems')) {
      await page.locator('.groups > li').first().waitFor()
    } else throw new Error(where)
  }
}

/** Only tells stuck from slow. */
const TEST_MS_MAX = 240_000

describeOwn('mariadb', 'the job of the owner', () => {
  describeInBrowser('three servers on one store', (browser) => {
    it(
      'A killed node and a slow service are read off the overview, and each of its numbers leads to its transactions',
      () => readMorning(browser()),
      TEST_MS_MAX,
    )
  })
})

async function readMorning(browser: Browser): Promise<void> {
  await using slow = await startSlowService(SLOW_MS)
  await using quick = await startSlowService(0)
  const services = [`${SLOW}=${slow.url}`, `${QUICK}=${quick.url}`].join(',')
  await using fixture = await startOnMariadb({ count: SERVERS, more: ['--services', services] })
  const [victim, server, third] = fixture.servers
  if (victim === undefined || server === undefined || third === undefined)
    throw new Error('there are three servers')
  await victim.process.kill()
  await makeAll([server.url, third.url])
  await waitForOverview(server.url, 'all is counted', hasAll)
  await using watched = await openPage(browser, { viewport: VIEWPORT })
  const { page } = watched
  await page.goto(`${server.url}/console/#/`)
  await page.locator('.card', { hasText: 'Outcome' }).waitFor()
  expect(await findNumbersWithoutLink(page)).toEqual([])
  await followAll(page, server.url)
  await waitForOverview(server.url, 'one node is gone', ({ nodes }) =>
    nodes.some(({ state }) => state === 'gone'),
  )
  await page.goto(`${server.url}/console/#/`)
  const gone = await readInSight(page, page.locator('tr[data-state="gone"]'))
  expect(gone).toMatch(/gone, last heard from \d+ s ago/)
  expect(await readInSight(page, page.locator('.store-line'))).toContain('2 of 3 nodes')
  const row = page.locator('.card', { hasText: 'Worst services' }).locator('tr', { hasText: SLOW })
  expect(await readInSight(page, row)).toMatch(/slow, [1-9](\.\d)? s/)
  await takeScreenshot(page, 'job-c-overview')
  await watched.assertAccessible('the overview')
  watched.assertClean()
}
