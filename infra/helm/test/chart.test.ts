import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { buildHelm, explainMissingHelm } from '../../test/helm/build-helm.ts'
import { findMissingPython, INSTALL_TIMEOUT_MS } from '../../test/python-tool.ts'
import { findSchemaFaults, installKubernetesValidate } from './kubernetes-validate.ts'
import { findPod, type Resource, renderChart, runHelm } from './render-chart.ts'

const CHART = join(import.meta.dirname, '..')
const ROOT = join(CHART, '..', '..')
const PAGE = join(ROOT, 'docs', 'guides', 'deploy-kubernetes.md')
/** The chart's oldest version of Kubernetes, and the newest whose schemas are here. */
const VERSIONS = ['1.30', '1.37']

const EMBEDDED = { keysSecret: 'keys', services: { bank: 'http://bank:8080' } }
const ON_MYSQL = {
  ...EMBEDDED,
  replicas: 3,
  store: {
    url: 'mysql://counterstep@mysql:3306/counterstep',
    passwordSecret: 'store',
    migrate: { url: 'mysql://migrate@mysql:3306/counterstep', passwordSecret: 'migrate' },
    tlsCaConfigMap: 'ca',
  },
  signingKeySecret: 'signing',
  allowTargets: ['https://*.example.internal'],
  allowedHosts: ['saga.example.com'],
  dtm: true,
  dtmGrpc: true,
  env: { COUNTERSTEP_RETENTION_MS: '1209600000', COUNTERSTEP_STORE_FAILOVER: 'lossless' },
  image: { repository: 'registry.example/counterstep', digest: `sha256:${'a'.repeat(64)}` },
  imagePullSecrets: [{ name: 'registry' }],
  podLabels: { team: 'orders' },
  podAnnotations: { note: 'one' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: 'high',
  networkPolicy: { from: [{ podSelector: {} }], egress: [{ to: [{ podSelector: {} }] }] },
  serviceMonitor: { enabled: true, keySecret: 'metrics', labels: { release: 'prometheus' } },
}
const ON_REDIS = {
  ...EMBEDDED,
  store: { url: 'rediss://counterstep@redis:6379', passwordSecret: 'store' },
  networkPolicy: { enabled: false },
}
const VALUES = { EMBEDDED, ON_MYSQL, ON_REDIS }

/** Lists the paths of all values. What is empty, or goes to Kubernetes as it is, is one value. */
function listValues(values: object, before = ''): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${before}${name}`
    const isGroup = value !== null && typeof value === 'object' && !Array.isArray(value)
    if (!isGroup || path === 'resources' || Object.keys(value).length === 0) return [path]
    return listValues(value, `${path}.`)
  })
}

it('The guide docs/guides/deploy-kubernetes.md lists each value of the chart, and no other', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| (`.*?`) \|/gm)].map(([, names = '']) => names)
  const listed = rows.flatMap((names) => {
    const [first = '', ...others] = [...names.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)
    // A name that begins with a dot stands beside the first one.
    const parent = first.replace(/\.\w+$/, '')
    return [first, ...others.map((name) => (name.startsWith('.') ? `${parent}${name}` : name))]
  })
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
  expect(listed.sort()).toEqual([...listValues(values)].sort())
})

const missing = explainMissingHelm()

describe.skipIf(missing !== undefined)(`the chart${missing === undefined ? '' : `: ${missing}`}`, () => {
  let helm = ''
  beforeAll(async () => {
    helm = await buildHelm()
  }, INSTALL_TIMEOUT_MS)

  function makeFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-chart-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return folder
  }

  it.each(Object.entries(VALUES))(
    'helm lint finds nothing in the chart with the values %s',
    async (_name, values) => {
      const { stdout, code } = await runHelm(helm, makeFolder(), ['lint', '--strict'], values)
      expect(stdout).toContain('0 chart(s) failed')
      expect(code).toBe(0)
    },
  )

  it('The only pod of an embedded store stays in its Service while the disk is full, so that signals and commands reach it', async () => {
    for (const [values, path] of [
      [EMBEDDED, '/health/live'],
      [ON_MYSQL, '/health/ready'],
    ] as const) {
      const { resources } = await renderChart(helm, makeFolder(), values)
      const [pod] = findPod(resources).containers
      expect(pod?.readinessProbe.httpGet.path).toBe(path)
    }
  })

  it('Rendered with each set of values, the chart fits the schemas of Kubernetes, and planted faults do not', {
    timeout: INSTALL_TIMEOUT_MS,
  }, async ({ skip }) => {
    const noPython = findMissingPython()
    skip(noPython !== undefined, noPython)
    const python = installKubernetesValidate()
    const paths: string[] = []
    for (const values of Object.values(VALUES))
      paths.push((await renderChart(helm, makeFolder(), values)).path)
    for (const version of VERSIONS) expect(findSchemaFaults(python, version, paths)).toEqual([])
    const folder = makeFolder()
    const { resources } = await renderChart(helm, folder, ON_MYSQL)
    const text = JSON.stringify(resources.find(({ kind }) => kind === 'Deployment'))
    for (const [from, to] of [
      ['"readinessProbe"', '"readynessProbe"'],
      ['"containerPort":8470', '"containerPort":"http"'],
    ] as const) {
      expect(text).toContain(from)
      const planted = join(folder, 'planted.yaml')
      writeFileSync(planted, text.replace(from, to))
      expect(findSchemaFaults(python, '1.30', [planted]), to).not.toEqual([])
    }
  })

  it('Each pod runs as a user that is not root, on a file system that it cannot write, without a token', async () => {
    const { resources } = await renderChart(helm, makeFolder(), ON_MYSQL)
    for (const kind of ['Deployment', 'Job']) {
      const pod = findPod(resources, kind)
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 },
      })
      for (const { securityContext } of pod.containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      for (const { secret } of pod.volumes) if (secret !== undefined) expect(secret.defaultMode).toBe(0o440)
    }
    // A stop takes 10 s at most, after a sleep of 5 s.
    expect(findPod(resources).terminationGracePeriodSeconds).toBeGreaterThan(15)
  })

  it('The ports of DTM are off, or named alike in the pod, the service and the policy', async () => {
    const listPorts = async (values: object) => {
      const { resources } = await renderChart(helm, makeFolder(), values)
      return JSON.stringify(resources).match(/"(?:containerPort|targetPort|port)":"?(?:dtm[a-z-]*|36\d+)/g)
    }
    expect(await listPorts(EMBEDDED)).toBeNull()
    expect((await listPorts(ON_MYSQL))?.sort()).toEqual([
      ...['"containerPort":36789', '"containerPort":36790'],
      ...['"port":"dtm', '"port":"dtm-grpc', '"port":36789', '"port":36790'],
      ...['"targetPort":"dtm', '"targetPort":"dtm-grpc'],
    ])
  })

  it('The embedded store has one server and a volume, and a database has several with a budget of disruptions', async () => {
    const list = (resources: readonly Resource[]) => resources.map(({ kind }) => kind).sort()
    const embedded = (await renderChart(helm, makeFolder(), { ...EMBEDDED, replicas: 3 })).resources
    expect(list(embedded)).toEqual(['Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Service'])
    const one = embedded.find(({ kind }) => kind === 'Deployment')
    expect(one?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
    const onMysql = (await renderChart(helm, makeFolder(), ON_MYSQL)).resources
    const expected = [
      'Deployment',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceMonitor',
    ]
    expect(list(onMysql)).toEqual(expected)
    const onRedis = (await renderChart(helm, makeFolder(), ON_REDIS)).resources
    expect(list(onRedis)).toEqual(['Deployment', 'PodDisruptionBudget', 'Service'])
  })

  it.each([
    ['without keys', { services: EMBEDDED.services }, /keysSecret/],
    ['without a service to call', { keysSecret: 'keys' }, /services or allowTargets/],
    ['with a password in the URL', { ...EMBEDDED, store: { url: 'mysql://u:secret@h/d' } }, /store/],
    ['with an unknown value', { ...EMBEDDED, replica: 2 }, /replica/],
  ])('The chart is not rendered %s', async (_what, values, message) => {
    const { code, stderr } = await runHelm(helm, makeFolder(), ['template', 'orders'], values)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(message)
  })

  it('The chart is rendered with the values of docs/guides/deploy-kubernetes.md', async () => {
    const [, example = ''] = /^```yaml values\.yaml\n([\s\S]*?)^```$/m.exec(readFileSync(PAGE, 'utf8')) ?? []
    const { resources } = await renderChart(helm, makeFolder(), parse(example))
    expect(resources.map(({ kind }) => kind)).toContain('Job')
  })
})
