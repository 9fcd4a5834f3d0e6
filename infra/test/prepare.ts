// Brings before the tests what the checks of infra need from elsewhere, so that none waits for a download or a compiler.
import { join } from 'node:path'
import { installCfnLint, missingPython } from '../aws/test/cfn-lint.ts'
import { buildLoader, whyNoCompose } from './compose/load-project.ts'
import { ensureBaseImage } from './image/base-image.ts'
import { buildahIn } from './image/buildah.ts'
import { keptFolder } from './image/kept-folder.ts'
import { whyNoImages } from './image/tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const kept = keptFolder()

await bring('cfn-lint', missingPython(), () => installCfnLint())
const noImages = await whyNoImages()
await bring('the base of images', noImages, () => ensureBaseImage(buildahIn(join(kept, 'storage')), kept))
await bring('the loader of compose files', noImages ?? whyNoCompose(), () => buildLoader(ROOT, kept))

/** What cannot be brought is counted by the checks, which try again. */
async function bring(what: string, missing: string | undefined, by: () => unknown): Promise<void> {
  try {
    if (missing === undefined) await by()
    print(`${what}: ${missing ?? 'here'}`)
  } catch (error: unknown) {
    print(`${what}: ${String(error)}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
