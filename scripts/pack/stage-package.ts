import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compiledModules } from './compiled-modules.ts'
import { type Publication, SDK } from './public-packages.ts'
import { publishedDocuments } from './published-documents.ts'
import { publishedManifest } from './published-manifest.ts'
import { bundledModules } from './sdk/bundled-modules.ts'
import { CARRIED_SDK } from './sdk/carried-packages.ts'

export interface StageFrom {
  readonly root: string
  /** Has the compiled files. */
  readonly built: string
}

/** Writes all of a package that is published into an empty folder. */
export function stagePackage({ root, built }: StageFrom, publication: Publication, folder: string): void {
  const isSdk = publication.name === SDK.name
  const documents = publishedDocuments(root, publication)
  const hasFolder = [...documents.keys()].some((path) => path.startsWith('docs/'))
  const manifest = publishedManifest(publication.manifest, {
    modules: isSdk ? `dist/${CARRIED_SDK.as}` : 'dist',
    files: hasFolder ? ['dist', 'docs'] : ['dist'],
  })
  const files = new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...documents,
    ...changelogOf(root, publication),
    ...(isSdk ? bundledModules(root, built) : compiledModules(built, publication.folder)),
  ])
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** There is one from the first version on that changesets made. */
function changelogOf(root: string, { folder }: Publication): ReadonlyMap<string, string> {
  const path = join(root, folder, 'CHANGELOG.md')
  return new Map(existsSync(path) ? [['CHANGELOG.md', readFileSync(path, 'utf8')]] : [])
}
