import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'
import { buildDashboard } from '../../../scripts/dashboard/build-dashboard.ts'
import { describeWith } from './beside/describe-with.ts'
import { PrometheusServer, type Sample } from './beside/prometheus-server.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const PROMETHEUS = join(ROOT, 'infra', 'prometheus')
const RULES = join(PROMETHEUS, 'alerts.yaml')
const DASHBOARD = join(ROOT, 'infra', 'grafana', 'counterstep.json')
/** The program scripts/dashboard-picture.ts draws what stands here after the test. */
const ANSWERS = join(ROOT, '.tmp', 'dashboard.json')

/** It runs promtool for each alert. */
const MUTANTS_MS_MAX = 240_000
const LOAD_MS = 8_000
const STEP_MS = 60

interface Dashboard {
  readonly panels: readonly {
    readonly type: string
    readonly title: string
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterstep-prometheus-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

await describeWith('prometheus', 'the rules of alerts', (prometheus) => {
  const promtool = (
    args: readonly string[],
    options: { readonly cwd?: string; readonly input?: string } = {},
  ) => spawnSync(join(dirname(prometheus), 'promtool'), args, { encoding: 'utf8', ...options })

  it('promtool takes the rules and the configurations', () => {
    expect(promtool(['check', 'rules', RULES])).toMatchObject({ status: 0 })
    expect(promtool(['check', 'config', join(PROMETHEUS, 'local.yaml')])).toMatchObject({ status: 0 })
    const composed = join(PROMETHEUS, 'prometheus.yaml')
    expect(promtool(['check', 'config', '--syntax-only', composed])).toMatchObject({ status: 0 })
  })

  it('The tests of alerts pass, and fail when one alert fires at once or is not there', {
    timeout: MUTANTS_MS_MAX,
  }, () => {
    const { groups, ...file } = parse(readFileSync(RULES, 'utf8'))
    const [{ rules, ...group }] = groups
    writeFileSync(join(folder, 'alerts.test.yaml'), readFileSync(join(PROMETHEUS, 'alerts.test.yaml')))
    const testRules = (changed: readonly object[]) => {
      const text = stringify({ ...file, groups: [{ ...group, rules: changed }] })
      writeFileSync(join(folder, 'alerts.yaml'), text)
      return promtool(['test', 'rules', 'alerts.test.yaml'], { cwd: folder })
    }
    const whole = testRules(rules)
    expect(whole.status, whole.stderr).toBe(0)
    for (const rule of rules) {
      const others = rules.filter((other: object) => other !== rule)
      const mutant = rule.for === undefined ? [] : [{ ...rule, for: '0s' }]
      expect(testRules([...others, ...mutant]).status, rule.alert).not.toBe(0)
    }
  })
})

it('The dashboard is what its script makes', () => {
  expect(JSON.parse(readFileSync(DASHBOARD, 'utf8'))).toEqual(buildDashboard())
})

/** A service that works, refuses, and sometimes breaks, by the path of the call. */
async function startService(): Promise<{ readonly url: string; close(): void }> {
  let calls = 0
  const server = createServer((request, response) => {
    const [, word] = (request.url ?? '').split(/[/?]/)
    calls += 1
    response.statusCode = word === 'refuse' ? 409 : word === 'shaky' && calls % 3 === 0 ? 503 : 200
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Makes a folder of data and an API key for what is beside the server. */
function makeKey(): {
  readonly data: string
  readonly keysFile: string
  readonly keyFile: string
  readonly key: string
} {
  const data = join(folder, 'data')
  mkdirSync(data)
  // The store warns of a folder that its group may write, which is the event of a store that is easy to have.
  chmodSync(data, 0o770)
  const keysFile = join(folder, 'keys.json')
  const keyFile = join(folder, 'metrics.key')
  const main = join(ROOT, 'packages', 'cli', 'src', 'main.ts')
  const args = [main, 'keys', 'create', '--keys-file', keysFile, '--name', 'load', '--scopes', 'submit,read']
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  writeFileSync(keyFile, stdout.trim(), { mode: 0o600 })
  return { data, keysFile, keyFile, key: stdout.trim() }
}

/** Submits sagas of all sorts for some seconds. */
async function makeLoad(url: string, key: string): Promise<void> {
  const submit = (body: object) =>
    fetch(`${url}/v1/transactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, prefer: 'wait=1' },
      body: JSON.stringify(body),
    })
  const branch = (word: string) => ({ action: `bank:/${word}`, compensation: 'bank:/undo' })
  const endAt = performance.now() + LOAD_MS
  const submits: Promise<Response>[] = []
  for (let turn = 0; performance.now() < endAt; turn++) {
    const second = turn % 5 === 0 ? 'refuse' : turn % 3 === 0 ? 'shaky' : 'work'
    submits.push(submit({ retry: { initialMs: 50 }, branches: [branch('work'), branch(second)] }))
    // No target is listed for this one, so it is refused.
    if (turn % 10 === 0) submits.push(submit({ branches: [{ action: 'https://elsewhere.example/' }] }))
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
  const answers = await Promise.all(submits)
  await Promise.all(answers.map((answer) => answer.text()))
}

await describeWith('prometheus', 'the dashboard', (program) => {
  it('Each query of the dashboard has an answer of a Prometheus that scrapes a server under load', async () => {
    const service = await startService()
    const { data, keysFile, keyFile, key } = makeKey()
    const port = String(await freePort())
    const target = `127.0.0.1:${port}`
    const prometheus = await PrometheusServer.start(program, { target, keyFile, rules: RULES })
    const given = [
      '--port',
      port,
      // A server with a given port also takes DTM's port, which another process may have.
      '--dtm-port',
      'off',
      '--data',
      data,
      '--keys-file',
      keysFile,
      '--services',
      `bank=${service.url}`,
    ]
    const server = new ServeProcess(['serve', '--ready-json', ...given])
    const url = await server.url()
    try {
      const from = Date.now() / 1000
      await makeLoad(url, key)
      const to = Date.now() / 1000
      const { panels }: Dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8'))
      const answered: object[] = []
      for (const { type, title, gridPos, fieldConfig, targets = [] } of panels) {
        const answers: { readonly legend: string; readonly samples: readonly Sample[] }[] = []
        for (const { expr, legendFormat } of targets) {
          const filled = expr.replaceAll('$job', 'counterstep').replaceAll('$__rate_interval', '3s')
          const samples = await prometheus.query(filled, { from, to })
          const numbers = samples.flatMap(({ values }) => values.filter(([, value]) => value !== 'NaN'))
          expect(numbers.length, `${title}: ${filled}`).toBeGreaterThan(0)
          answers.push({ legend: legendFormat, samples })
        }
        answered.push({ type, title, gridPos, unit: fieldConfig?.defaults.unit, answers })
      }
      const rules = await until('all rules were evaluated', 10_000, async () => {
        const states = await prometheus.readRules()
        return states.every(({ health }) => health !== 'unknown') && states
      })
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
      expect(rules.length).toBeGreaterThan(10)
      mkdirSync(dirname(ANSWERS), { recursive: true })
      writeFileSync(ANSWERS, JSON.stringify({ from, to, panels: answered }))
    } finally {
      await prometheus.stop()
      server.signal('SIGTERM')
      await server.ended()
      service.close()
    }
  })

  it('promtool finds no fault in the names of the metrics but those of prom-client', async () => {
    const data = mkdtempSync(join(folder, 'bare-'))
    const { process: server, url } = await ServeProcess.listening(data)
    const text = await (await fetch(`${url}/metrics`)).text()
    server.signal('SIGTERM')
    await server.ended()
    const { stdout, stderr } = spawnSync(join(dirname(program), 'promtool'), ['check', 'metrics'], {
      encoding: 'utf8',
      input: text,
    })
    const found = `${stdout}${stderr}`.trim().split('\n')
    expect(found.map((line) => line.split(' ')[0])).toEqual(['nodejs_active_resources_total'])
  })
})
