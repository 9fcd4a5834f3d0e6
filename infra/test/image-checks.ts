import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckList } from './check-list.ts'
import { checkCompose } from './checks/compose.ts'
import { checkEmbedded } from './checks/embedded.ts'
import { checkFiles, checkNoSecrets, checkSize, checkUser } from './checks/image-contents.ts'
import { ensureBaseImage } from './image/base-image.ts'
import { buildImage, type Image } from './image/build-image.ts'
import { type Buildah, openBuildah } from './image/buildah.ts'
import { ensureKeptFolder } from './image/kept-folder.ts'
import { mountImage } from './image/root-file-system.ts'
import { ensureImageTools } from './image/tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TARGETS = ['orchestrator', 'examples'] as const

export async function runImageChecks(list: CheckList): Promise<void> {
  const reason = await ensureImageTools()
  if (reason !== undefined) {
    list.skip('the images', reason)
    return
  }
  const kept = ensureKeptFolder()
  const buildah = openBuildah(join(kept, 'storage'))
  const images = new Map<string, Image>()
  const isBuilt = await list.check('the Dockerfile builds', async () => {
    process.stdout.write('building; says nothing for some minutes\n')
    await ensureBaseImage(buildah, kept)
    const startedAt = performance.now()
    for (const target of TARGETS) images.set(target, await buildImage(buildah, ROOT, target))
    return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  })
  const [orchestrator, examples] = TARGETS.map((target) => images.get(target))
  if (isBuilt && orchestrator !== undefined && examples !== undefined) {
    await checkImages(list, buildah, kept, [orchestrator, examples])
  }
}

async function checkImages(
  list: CheckList,
  buildah: Buildah,
  kept: string,
  [orchestrator, examples]: readonly [Image, Image],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-image-'))
  const roots = {
    orchestrator: await mountImage(buildah, orchestrator),
    examples: await mountImage(buildah, examples),
  }
  try {
    for (const [name, image] of Object.entries({ orchestrator, examples })) {
      await list.check(`${name}: its user is a number, and not root`, () => checkUser(image))
      await list.check(`${name}: it is small`, () => checkSize(buildah, image))
      await list.check(`${name}: it has no secret`, () => checkNoSecrets(buildah, image))
    }
    await list.check('orchestrator: it has programs alone', () => checkFiles(roots.orchestrator))
    await list.check('examples: it has programs alone', () => checkFiles(roots.examples))
    await checkEmbedded(list, roots, folder)
    await checkCompose(list, roots, { root: ROOT, kept, folder })
  } finally {
    for (const root of Object.values(roots)) await root.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}
