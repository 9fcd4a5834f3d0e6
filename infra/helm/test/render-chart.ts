import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Ran, runCommand } from '../../test/run-command.ts'

const CHART = join(import.meta.dirname, '..')

export interface Resource {
  readonly kind: string
  readonly spec: {
    readonly replicas?: number
    readonly strategy?: { readonly type: string }
    readonly template: { readonly spec: PodSpec }
  }
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly automountServiceAccountToken: boolean
  readonly securityContext: object
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value: string }[]
    readonly args: readonly string[]
    readonly securityContext: object
    readonly livenessProbe: { readonly httpGet: { readonly path: string } }
    readonly readinessProbe: { readonly httpGet: { readonly path: string } }
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  }[]
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly defaultMode: number } }[]
}

/** Runs helm with the chart and these values, which it writes to the folder. */
export function runHelm(
  helm: string,
  folder: string,
  command: readonly string[],
  values: object,
): Promise<Ran> {
  const file = join(folder, 'values.yaml')
  writeFileSync(file, JSON.stringify(values))
  return runCommand(helm, [...command, CHART, '--values', file, '--kube-version', '1.30.0'])
}

/** Renders the chart into a file of the folder, and returns the file with the resources in it. */
export async function renderChart(
  helm: string,
  folder: string,
  values: object,
): Promise<{ readonly path: string; readonly resources: readonly Resource[] }> {
  const command = ['template', 'orders', '--namespace', 'shop']
  const { stdout, stderr, code } = await runHelm(helm, folder, command, values)
  if (code !== 0) throw new Error(stderr)
  const path = join(folder, 'rendered.yaml')
  writeFileSync(path, stdout)
  return { path, resources: parseAllDocuments(stdout).flatMap((document) => document.toJS() ?? []) }
}

export function findPod(resources: readonly Resource[], kind = 'Deployment'): PodSpec {
  const found = resources.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found.spec.template.spec
}
