import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedDocuments } from './published-documents.ts'
import { publishedManifest } from './published-manifest.ts'
import { publishedModules } from './published-modules.ts'

/** Writes all that is published into an empty folder; `built` has the compiled files. */
export function stagePackage(root: string, built: string, folder: string): void {
  const files = new Map([
    ['package.json', `${JSON.stringify(publishedManifest(root), null, 2)}\n`],
    ['LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...publishedDocuments(root),
    ...publishedModules(root, built),
  ])
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
