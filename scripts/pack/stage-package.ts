import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundleCommand } from './bundle-command.ts'
import { buildCarriedConsole, CONSOLE_FOLDER, CONSOLE_MODULE } from './carried-console.ts'
import { carriedModules } from './carried-modules.ts'
import { commonJsModules } from './commonjs-modules.ts'
import type { Publication } from './public-packages.ts'
import { publishedDocuments } from './published-documents.ts'
import { publishedManifest } from './published-manifest.ts'
import { indentByTabs } from './short-indents.ts'
import { withoutComments } from './without-comments.ts'
import { manifestIn } from './workspace-manifest.ts'

export interface StageFrom {
  readonly root: string
  /** Has the compiled files. */
  readonly built: string
}

/** Writes all of a package that is published into an empty folder. */
export function stagePackage({ root, built }: StageFrom, publication: Publication, folder: string): void {
  const { commandFolder } = publication
  const command = commandFolder === undefined ? undefined : manifestIn(root, commandFolder)
  const { files: carried, commandOnly, manifests } = carriedModules(root, built, publication)
  const modules = new Map(
    [...carried].map(([path, text]) => [
      path,
      path.endsWith('.js') ? withoutComments(text) : indentByTabs(text),
    ]),
  )
  const documents = publishedDocuments(root, publication)
  const hasFolder = [...documents.keys()].some((path) => path.startsWith('docs/'))
  const manifest = publishedManifest(publication, {
    carried: manifests,
    command,
    files: hasFolder ? ['dist', 'docs'] : ['dist'],
  })
  const files = new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...documents,
    ...readChangelog(root, publication),
    ...modules,
    ...(publication.hasCommonJs ? commonJsModules(modules) : []),
  ])
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  if (modules.has(`${CONSOLE_FOLDER}/${CONSOLE_MODULE}.js`)) buildCarriedConsole(root, folder)
  if (command === undefined) return
  bundleCommand(folder, publication, command)
  // The bundle has what the command alone needs.
  for (const path of commandOnly) rmSync(join(folder, path))
}

/** There is one from the first version on that changesets made. */
function readChangelog(root: string, { folder }: Publication): ReadonlyMap<string, string> {
  const path = join(root, folder, 'CHANGELOG.md')
  return new Map(existsSync(path) ? [['CHANGELOG.md', readFileSync(path, 'utf8')]] : [])
}
