// This downloads and builds what the checks of infra need, before the tests, so that none of them has to wait for it.
import { join } from 'node:path'
import { installCfnLint } from '../aws/test/cfn-lint.ts'
import { installKubernetesValidate } from '../helm/test/kubernetes-validate.ts'
import { buildLoader, explainMissingCompose } from './compose/load-project.ts'
import { buildDashboardReader, explainMissingReader } from './grafana/build-reader.ts'
import { buildHelm, explainMissingHelm } from './helm/build-helm.ts'
import { ensureBaseImage } from './image/base-image.ts'
import { openBuildah } from './image/buildah.ts'
import { ensureKeptFolder } from './image/kept-folder.ts'
import { ensureImageTools } from './image/tools.ts'
import { findMissingPython } from './python-tool.ts'

const ROOT = join(import.meta.dirname, '..', '..')

await bring('cfn-lint', findMissingPython, installCfnLint)
await bring('kubernetes-validate', findMissingPython, installKubernetesValidate)
await bring('helm', explainMissingHelm, buildHelm)
await bring('the types of Grafana', explainMissingReader, buildDashboardReader)
await bring('the base of images', ensureImageTools, () => {
  const kept = ensureKeptFolder()
  return ensureBaseImage(openBuildah(join(kept, 'storage')), kept)
})
await bring('the loader of compose files', explainMissingCompose, () => buildLoader(ROOT, ensureKeptFolder()))

/** Brings one thing. A failure is only printed: the checks try again and count it. */
async function bring(
  what: string,
  whyNot: () => string | undefined | Promise<string | undefined>,
  by: () => unknown,
): Promise<void> {
  try {
    const missing = await whyNot()
    if (missing === undefined) await by()
    print(`${what}: ${missing ?? 'here'}`)
  } catch (error: unknown) {
    print(`${what}: ${String(error)}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
