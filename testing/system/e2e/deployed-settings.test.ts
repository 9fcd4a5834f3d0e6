import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { expect, it, onTestFinished } from 'vitest'
import { findPod, renderChart } from '../../../infra/helm/test/render-chart.ts'
import { buildHelm, explainMissingHelm } from '../../../infra/test/helm/build-helm.ts'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'

const UNIT = new URL('../../../infra/systemd/counterstep.service', import.meta.url)
/** The first run on a machine builds Helm, unless that was done before the tests. */
const HELM_MS_MAX = 300_000

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function runCounterstep(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [COUNTERSTEP_PROGRAM, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const createKey = (keysFile: string) =>
  runCounterstep('keys', 'create', '--keys-file', keysFile, '--name', 'a', '--scopes', 'read')

it('A server starts with the settings of the pod of the chart, and answers its probes', {
  timeout: HELM_MS_MAX,
}, async ({ skip }) => {
  const missing = explainMissingHelm()
  skip(missing !== undefined, missing)
  const folder = makeFolder()
  const { resources } = await renderChart(await buildHelm(), folder, {
    keysSecret: 'keys',
    signingKeySecret: 'signing',
    services: { bank: 'http://bank:8080', shop: 'https://shop.example/api' },
    allowTargets: ['https://*.example.internal'],
    allowedHosts: ['saga.example.com'],
    env: { COUNTERSTEP_RETENTION_MS: '1209600000' },
  })
  const [pod] = findPod(resources).containers
  if (pod === undefined) throw new Error('the pod has no container')
  const own = (path: string) => path.replace('/run/counterstep', folder)
  // The files of the Secrets stand where Kubernetes mounts them, in this folder.
  for (const { mountPath } of pod.volumeMounts)
    if (mountPath !== '/data') mkdirSync(own(mountPath), { recursive: true })
  const env = Object.fromEntries(pod.env.map(({ name, value }) => [name, own(value)]))
  createKey(env.COUNTERSTEP_KEYS_FILE ?? '')
  runCounterstep('signing-key', 'create', '--out', env.COUNTERSTEP_SIGNING_KEY_FILE ?? '')
  const given = ['--ready-json', '--port', '0', '--data', join(folder, 'data')]
  const server = new ServeProcess([...pod.args, ...given], env)
  onTestFinished(async () => {
    server.signal('SIGTERM')
    await server.ended()
  })
  const url = await server.url()
  for (const { httpGet } of [pod.livenessProbe, pod.readinessProbe]) {
    const { status } = await fetch(`${url}${httpGet.path}`)
    expect([httpGet.path, status]).toEqual([httpGet.path, 200])
  }
  expect((await fetch(`${url}/v1/transactions`)).status).toBe(401)
})

it('A server starts by the line of the unit of systemd, and ends in its time', async () => {
  const folder = makeFolder()
  const unit = readFileSync(UNIT, 'utf8')
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
  const [node, flag, program, ...args] = line.split(' ')
  expect([node, flag, program]).toEqual([
    '/usr/bin/node',
    '--disable-sigusr1',
    '/opt/counterstep/node_modules/.bin/counterstep',
  ])
  const config = join(folder, 'config.json')
  const keysFile = join(folder, 'keys.json')
  createKey(keysFile)
  const services = { bank: 'https://bank.internal' }
  writeFileSync(config, JSON.stringify({ keysFile, services, data: join(folder, 'data'), port: 0 }))
  const given = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  const environment = { ...Object.fromEntries(given), SQLITE_TMPDIR: folder }
  const own = args.map((word) => word.replace('/etc/counterstep/config.json', config))
  const server = new ServeProcess([...own, '--ready-json'], environment)
  expect((await fetch(`${await server.url()}/health/ready`)).status).toBe(200)
  server.signal('SIGTERM')
  const { code, tookMs } = await server.ended()
  const [, seconds = ''] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? []
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(Number(seconds) * 1000)
})
