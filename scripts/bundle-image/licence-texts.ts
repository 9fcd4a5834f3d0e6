import { readdirSync, readFileSync } from 'node:fs'
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
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`── ${name} ${version} (${license}) ──`, ...texts, ''].join('\n\n')
}
