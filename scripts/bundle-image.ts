// Writes the programs that the container images hold, each into a folder of its own. `--into DIR` says where.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { bundleProgram } from './bundle-image/bundle-program.ts'
import { copyConsole } from './bundle-image/console-site.ts'
import { licenceTexts } from './bundle-image/licence-texts.ts'
import { PROGRAMS, type Program } from './bundle-image/programs.ts'
import { copySwaggerUi } from './bundle-image/swagger-ui-folder.ts'

const ROOT = dirname(import.meta.dirname)

async function writeProgram({ folder, modules, manifest }: Program, into: string): Promise<void> {
  const target = join(into, folder)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const bundle = await bundleProgram(ROOT, target, modules)
  if (hasApiPage(bundle)) copySwaggerUi(ROOT, target)
  await copyConsole(bundle, target)
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8'))
  writeFileSync(join(target, 'package.json'), JSON.stringify({ name, version, license, type: 'module' }))
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES'), licenceTexts(ROOT, bundle))
}

function hasApiPage({ inputs }: Metafile): boolean {
  return Object.keys(inputs).some((path) => path.includes('@fastify/swagger-ui/'))
}

const { values } = parseArgs({ options: { into: { type: 'string', default: join(ROOT, 'dist', 'image') } } })
for (const program of PROGRAMS) await writeProgram(program, resolve(values.into))
