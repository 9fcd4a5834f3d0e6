// Brings before the tests what the checks of infra need from elsewhere, so that none waits for a download or a compiler.
import { join } from 'node:path'
import { installCfnLint, missingPython } from '../aws/test/cfn-lint.ts'
import { buildLoader, whyNoCompose } from './compose/load-project.ts'
import { ensureBaseImage } from './image/base-image.ts'
import { buildahIn } from './image/buildah.ts'
import { ensureKeptFolder } from './image/kept-folder.ts'
import { whyNoImages } from './image/tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')

await bring('cfn-lint', missingPython, installCfnLint)
await bring('the base of images', whyNoImages, () => {
  const kept = ensureKeptFolder()
  return ensureBaseImage(buildahIn(join(kept, 'storage')), kept)
})
await bring('the loader of compose files', whyNoCompose, () => buildLoader(ROOT, ensureKeptFolder()))

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
