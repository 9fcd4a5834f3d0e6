import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { bundleProgram } from '../../scripts/bundle-image/bundle-program.ts'
import { consoleOfClone } from '../../scripts/bundle-image/console-site.ts'
import { PROGRAMS } from '../../scripts/bundle-image/programs.ts'
import { copySwaggerUi } from '../../scripts/bundle-image/swagger-ui-folder.ts'
import { REPOSITORY } from '../repository/source-tree.ts'

/** The folder is in the repository, where the driver's binary is found. */
const FOLDER = join(REPOSITORY, '.tmp', 'programs')
/** No run of the tests takes so long. */
const UNUSED_MS_MAX = 24 * 60 * 60 * 1_000

/**
 * Tells which program the tests start as `counterstep`: the same modules as an image's, bundled in the same way, once
 * for all projects of a run. A program that TEST_COUNTERSTEP_PROGRAM names stays.
 */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env.TEST_COUNTERSTEP_PROGRAM
  if (given?.startsWith(FOLDER) === true) return
  if (given !== undefined && given !== '') {
    process.env.TEST_COUNTERSTEP_PROGRAM = resolve(given)
    process.stdout.write(`the orchestrator of the tests: ${resolve(given)}\n`)
    return
  }
  const build = async () => {
    process.env.TEST_COUNTERSTEP_PROGRAM = await bundleCounterstep()
  }
  await build()
  removeUnused()
  project.onTestsRerun(build)
}

/**
 * The bundle's main module, in a folder that is named for all that it holds: what another run uses stays as it is, and the
 * next run of the same sources finds it compiled.
 */
async function bundleCounterstep(): Promise<string> {
  const orchestrator = PROGRAMS.find(({ folder }) => folder === 'orchestrator')
  if (orchestrator === undefined)
    throw new Error('the orchestrator is no longer among the programs of images')
  mkdirSync(FOLDER, { recursive: true })
  const fresh = mkdtempSync(join(FOLDER, 'fresh-'))
  try {
    await bundleProgram(REPOSITORY, fresh, orchestrator.modules, consoleOfClone)
    copySwaggerUi(REPOSITORY, fresh)
    cpSync(join(REPOSITORY, orchestrator.manifest), join(fresh, 'package.json'))
    const named = join(FOLDER, contentHash(fresh))
    renameUnlessThere(fresh, named)
    utimesSync(named, new Date(), new Date())
    return join(named, 'dist', 'main.js')
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function contentHash(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file.slice(folder.length)}\0`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function renameUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error: unknown) {
    if (!existsSync(to)) throw error
  }
}

/** Each change of the sources leaves one, and a run that was killed what it had begun. */
function removeUnused(): void {
  const before = Date.now() - UNUSED_MS_MAX
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name)
    const entry = statSync(path, { throwIfNoEntry: false })
    if (entry !== undefined && entry.mtimeMs < before) rmSync(path, { recursive: true, force: true })
  }
}
