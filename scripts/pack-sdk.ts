// `npm run pack:sdk`: writes the package that users install. `-- --into DIR` says where; default: dist of the repository.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSdk } from './pack-sdk/build-sdk.ts'
import { runNpmPack } from './pack-sdk/run-npm-pack.ts'
import { stagePackage } from './pack-sdk/stage-package.ts'

const ROOT = dirname(import.meta.dirname)

function packSdk(into: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-pack-'))
  const [built, staged] = [join(folder, 'built'), join(folder, 'staged')]
  try {
    for (const each of [built, staged, into]) mkdirSync(each, { recursive: true })
    buildSdk(ROOT, built)
    stagePackage(ROOT, built, staged)
    return runNpmPack(staged, into)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { into: { type: 'string', default: join(ROOT, 'dist') } } })
process.stdout.write(`${packSdk(resolve(values.into))}\n`)
