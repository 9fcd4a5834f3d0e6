import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildApp, countStoreEvents, createPrometheusObserver, createRegistry } from '../src/index.ts'
import { createScriptedEngine } from './scripted-engine.ts'

const ROOT = new URL('../../../', import.meta.url)
const readText = (path: string) => readFile(new URL(path, ROOT), 'utf8')

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly alarm: string
}

async function readTable(): Promise<readonly Row[]> {
  const page = await readText('docs/guides/observe.md')
  return [...page.matchAll(/^\| `(\w+\*?)` \| (.*?) \| .* \| (?:`(\w+)`)? ?\|$/gm)].map(
    ([, name = '', described = '', alarm = '']) => {
      const [type = '', labels = ''] = described.split(':')
      return { name, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label), alarm }
    },
  )
}

/** Reads the rules of alerts: the whole files, since an alert also has a line of prose. */
async function readAlerts() {
  const { groups } = parse(await readText('infra/prometheus/alerts.yaml'))
  return groups.flatMap((group: { rules: unknown }) => group.rules) as readonly {
    readonly alert: string
    readonly expr: string
    readonly annotations: { readonly runbook: string }
  }[]
}

/** Reads what a server exposes after each of its metrics was used once. */
async function readExposed(): Promise<readonly Omit<Row, 'alarm'>[]> {
  const registry = createRegistry()
  const observer = createPrometheusObserver(registry)
  countStoreEvents(registry)({ level: 'warn', name: 'store-connected', detail: '' })
  observer.accepted('saga', 'transfer')
  observer.refused('SAGA_OVER_CAPACITY')
  observer.finished('saga', 'succeeded', 20, 'transfer')
  observer.branchCalled('action', 'success', 7, 'bank', 200)
  observer.storeCalled('create', 'ok', 2)
  observer.event({ level: 'warn', name: 'service-failing' })
  const stats = { now: 1, attention: 0, paused: 0, byHand: 0, problems: [] }
  const readStats = async () => ({ ...stats, unfinished: { prepared: 0, submitted: 0, aborting: 0 } })
  const app = buildApp({ engine: createScriptedEngine({ readStats }), registry })
  await app.inject({ url: '/metrics' })
  const metrics = await registry.getMetricsAsJSON()
  return metrics.map(({ name, type, values }) => ({
    name,
    type: String(type),
    labels: Object.keys(values[0]?.labels ?? {}).filter((label) => label !== 'le'),
  }))
}

it('The guide docs/guides/observe.md lists each metric with its type and labels, and no other', async () => {
  const listed = await readTable()
  const exposed = await readExposed()
  const isOurs = ({ name }: { readonly name: string }) => name.startsWith('counterstep_')
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name)
  const rows = listed.filter(isOurs).map(({ name, type, labels }) => ({ name, type, labels }))
  expect(rows.sort(byName)).toEqual(exposed.filter(isOurs).sort(byName))
  const prefixes = listed.filter((row) => !isOurs(row)).map(({ name }) => name)
  const others = exposed.filter((metric) => !isOurs(metric)).map(({ name }) => `${name.split('_')[0]}_*`)
  expect(prefixes.sort()).toEqual([...new Set(others)].sort())
})

it('Each name of a metric keeps the conventions of Prometheus', async () => {
  // promtool checks more of them: testing/system/e2e/prometheus.test.ts.
  for (const { name, type } of (await readExposed()).filter((metric) => metric.name.startsWith('counter'))) {
    expect(name.endsWith('_total'), name).toBe(type === 'counter')
    expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|kb|mb|mib|percent|count|sum|bucket)(_|$)/)
    if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/)
  }
})

it('No metric is collected by a look at the handles and requests of Node, which may abort then', async () => {
  const active = (await readExposed()).map(({ name }) => name).filter((name) => name.includes('active'))
  expect(active.sort()).toEqual(['nodejs_active_resources', 'nodejs_active_resources_total'])
})

it('Each alert is in the tables of docs/guides, watches metrics of ours, and leads to a heading that is there', async () => {
  const [alerts, listed, exposed] = [await readAlerts(), await readTable(), await readExposed()]
  const names = alerts.map(({ alert }) => alert).sort()
  const operate = await readText('docs/guides/operate.md')
  const explained = [...operate.matchAll(/^\| `(Counterstep\w+)` \| \S.* \| \S.* \|$/gm)]
  expect(explained.map(([, name = '']) => name).sort()).toEqual(names)
  const inTable = listed.flatMap(({ alarm }) => (alarm === '' ? [] : [alarm]))
  expect([...inTable, 'CounterstepDown'].sort()).toEqual(names)
  const headings = [...operate.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )
  for (const { alert, expr, annotations } of alerts) {
    const watched = [...expr.matchAll(/\b(?:counterstep|process|nodejs)_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|count|sum)$/, ''),
    )
    const unknown = watched.filter((name) => !exposed.some((metric) => metric.name === name))
    expect(unknown, alert).toEqual([])
    expect(
      headings.map((heading) => `docs/guides/operate.md#${heading}`),
      alert,
    ).toContain(annotations.runbook)
    // The row that names an alert is of a metric that the alert reads.
    const row = listed.find(({ alarm }) => alarm === alert)
    if (row !== undefined) expect(expr).toContain(row.name.replace('*', ''))
  }
})
