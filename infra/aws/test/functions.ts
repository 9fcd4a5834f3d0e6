import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFunctionConfig } from '@counterstep/configuration'
import { FOLDER } from './template.ts'

const BUILD = join(FOLDER, '../../scripts/build-functions.ts')
const BUILD_TIMEOUT_MS = 60_000

/** Builds the functions. Returns the folders that AWS can run, which are those with an index.mjs. */
export function buildBundles(): readonly string[] {
  const into = mkdtempSync(join(tmpdir(), 'counterstep-bundles-'))
  try {
    const options = { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS } as const
    const { status, stderr } = spawnSync(process.execPath, [BUILD, '--into', into], options)
    if (status !== 0) throw new Error(`the functions could not be built: ${stderr}`)
    return readdirSync(into).filter((name) => existsSync(join(into, name, 'index.mjs')))
  } finally {
    rmSync(into, { recursive: true })
  }
}

const SOUND = {
  COUNTERSTEP_STORE: 'mysql://counterstep@db.example/counterstep',
  COUNTERSTEP_SERVICES: 'bank=https://bank.example',
  COUNTERSTEP_AUTHORIZER: 'iam',
}

/** Tells whether a function reads the variable, even if only to refuse its value. */
export function isReadByFunctions(variable: string): boolean {
  const read = readFunctionConfig('api', { ...SOUND, [variable]: 'x' })
  return (
    'problems' in read ||
    !read.config.warnings.some((warning) => warning.startsWith(`${variable} is no setting`))
  )
}
