import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleServer, startConsoleServer } from './harness/console-server.ts'
import { describeInBrowser } from './harness/in-browser.ts'
import { takeScreenshot } from './harness/screenshot.ts'
import { type LoopbackService, serveOnLoopback } from './harness/serve-on-loopback.ts'
import { openPage } from './harness/watched-page.ts'

interface AskedPlan {
  readonly gid: string
  readonly workflow: string
  readonly plan: number
}

/** Answers the plans of three workflows: one that charges and waits for an approval, one that is refused, one of no plan. */
function answerPlan({ gid, workflow, plan }: AskedPlan, origin: string): string {
  if (workflow === 'broken') return '<html></html>'
  const head = { v: 1, gid, version: 1, generation: 1, plan, ran: [], next: [] }
  const answer = (fields: object, end: unknown) =>
    JSON.stringify({ ...head, ...fields, ...Object.fromEntries([['then', end]]) })
  const message = 'charge was a call, and is a step'
  if (workflow === 'changed') return answer({}, { refused: { code: 'WORKFLOW_CHANGED', message } })
  const step = { id: 'reserve', is: 'step', name: 'reserve', branch: { slot: '~1', undo: true } }
  const charge = { id: 'charge', is: 'call', name: 'bank', branch: { action: `${origin}/charge` } }
  const quote = { id: 'quote', is: 'run', name: 'quote', value: 4 }
  const wait = { id: 'approved', is: 'signal', name: 'approval', branch: { wait: { signal: 'approval' } } }
  switch (plan) {
    case 1:
      return answer({ next: [step] }, 'all')
    case 2:
      return answer({ ran: [quote], next: [charge] }, 'all')
    default:
      return plan === 3 ? answer({ next: [wait] }, 'any') : answer({}, { done: { ok: true } })
  }
}

function startHandler(): Promise<LoopbackService> {
  return serveOnLoopback(async (asked, answer) => {
    const isPlan = asked.url?.includes('op=plan') === true
    const body = await text(asked)
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.end(isPlan ? answerPlan(JSON.parse(body), `http://${asked.headers.host}`) : '{"id":7}')
  })
}

describeInBrowser('a workflow in the console', (browser) => {
  let handler: LoopbackService
  let server: ConsoleServer
  beforeAll(async () => {
    handler = await startHandler()
    server = await startConsoleServer()
    for (const workflow of ['order', 'changed', 'broken']) {
      const body = { gid: `${workflow}-1`, kind: 'workflow', workflow, handler: `${handler.url}/workflows` }
      const answer = await fetch(`${server.url}/v1/transactions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(202)
    }
  })
  afterAll(async () => {
    for (const each of [server, handler]) await each?.[Symbol.asyncDispose]()
  })

  it('The list has it by its kind, and its page shows its plan, its steps and what it waits for', async () => {
    await using watched = await openPage(browser(), { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.goto(`${server.url}/console/#/list?kind=workflow`)
    await page.getByText('changed plan WORKFLOW_CHANGED').waitFor()
    await page.getByText('order-1').click()
    await page.getByText('approved waits for the signal “approval”.').waitFor()
    await page.getByText('order, version 1, plan 3: 4 of 1000 steps').waitFor()
    const lanes = page.locator('.waterfall li')
    await expect.poll(() => lanes.count()).toBe(5)
    const texts = await lanes.allInnerTexts()
    expect(texts.map((lane) => lane.split('\n')[0])).toEqual([
      'reserve',
      'quote',
      'charge',
      'plan 3',
      'approved',
    ])
    await takeScreenshot(page, 'workflow')
    await watched.assertAccessible('timeline')
    for (const tab of ['graph', 'table', 'request', 'trail', 'json']) {
      await page.goto(`${server.url}/console/#/tx/order-1?tab=${tab}`)
      await page.locator('.tabs [aria-current="page"]').waitFor()
      await watched.assertAccessible(tab)
    }
    await page.goto(`${server.url}/console/#/tx/order-1`)
    await page.getByRole('button', { name: 'Send the signal approval…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: /send/i }).click()
    await page.getByText('Its code has returned').waitFor()
    watched.assertClean()
  })

  it('A handler that refuses or answers no plan is named, with what to do, and its page stands without any step', async () => {
    await using watched = await openPage(browser())
    const { page } = watched
    await page.goto(`${server.url}/console/#/tx/changed-1`)
    await page.getByText('The handler of changed refuses with WORKFLOW_CHANGED').first().waitFor()
    await page.getByText('abort it, which asks no code').first().waitFor()
    await page.getByRole('heading', { name: 'plan', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^(Skip|Edit|Retry this call)…$/ }).count()).toBe(0)
    await page.goto(`${server.url}/console/#/tx/broken-1?tab=graph`)
    await page.getByText('It has no branches yet.').waitFor()
    await page.goto(`${server.url}/console/#/problems`)
    await page.getByText('The handler of broken answers no plan that can be carried out').waitFor()
    await watched.assertAccessible('problems')
    watched.assertClean()
  })
})
