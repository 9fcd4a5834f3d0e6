import type { PlanCall, PlanRefusal } from '@counterstep/protocol'

/** Finds the workflow that a plan call asks: that of its version, or else the newest, whose version the answer fixes. */
export function findWorkflow<Each extends { readonly name: string; readonly version: number }>(
  workflows: readonly Each[],
  { workflow, version }: Pick<PlanCall, 'workflow' | 'version'>,
): Each | { readonly refused: PlanRefusal } {
  const named = workflows
    .filter(({ name }) => name === workflow)
    .sort((one, other) => other.version - one.version)
  const found = version === undefined ? named[0] : named.find((each) => each.version === version)
  if (found !== undefined) return found
  if (named.length === 0) {
    const names = [...new Set(workflows.map(({ name }) => name))].join(', ')
    return {
      refused: {
        code: 'WORKFLOW_UNKNOWN',
        message: `there is no workflow ${workflow} here: ${names || 'none'}`,
      },
    }
  }
  const versions = named.map((each) => each.version).join(', ')
  const message = `version ${version} of ${workflow} is not deployed here: ${versions}`
  return { refused: { code: 'WORKFLOW_VERSION_UNKNOWN', message } }
}
