import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i
const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** The licences of the packages that are in a bundle, which their terms want beside every copy. */
export function licenceTexts(root: string, { outputs }: Metafile): string {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs))
  const folders = new Set(inputs.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[1] ?? []))
  return [...folders]
    .sort()
    .map((folder) => readLicence(join(root, folder)))
    .join('\n')
}

function readLicence(folder: string): string {
  const { name, version, license }: Record<string, string> = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const texts = licenceFiles(folder).map((path) => readFileSync(path, 'utf8').trim())
  return [`── ${name} ${version} (${license}) ──`, ...texts, ''].join('\n\n')
}

/** A package that carries code of others keeps their licences in a folder of such a name. */
function licenceFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name))
  return names.sort().flatMap((name) => filesUnder(join(folder, name)))
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)))
}
