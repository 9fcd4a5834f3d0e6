import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Environment,
  exclusively,
  type Machine,
  NOT_ALLOWED,
  readEnvironment,
  thisMachine,
} from '@counterstep/test-servers'
import { buildRuntimeClient } from './build-runtime-client.ts'
import { ensureBuildTools } from './build-tools.ts'
import { RuntimeClientMissingError } from './errors.ts'

/** This folder has its own lockfile and is no workspace, because its installation compiles for a minute. */
const SOURCES = join(import.meta.dirname, '..', 'ric')
const FILES = ['package.json', 'package-lock.json']
const KEY_LENGTH = 12

export interface RuntimeClient {
  /** This is Amazon's program that runs a handler. */
  readonly entry: string
}

/** Finds the runtime client in the cache, or builds it there. Throws RuntimeClientMissingError with the reason. */
export async function installRuntimeClient(
  { cacheFolder, searchPath }: Environment = readEnvironment(),
  machine: Machine = thisMachine(),
): Promise<RuntimeClient> {
  if (process.platform !== 'linux') {
    throw new RuntimeClientMissingError(`it does not build on ${process.platform}`, 'excused')
  }
  const folder = join(cacheFolder, `lambda-runtime-client-${hashSources()}-${process.arch}`)
  if (!existsSync(folder)) {
    if (!machine.mayInstall) throw new RuntimeClientMissingError(NOT_ALLOWED, 'excused')
    await exclusively(`build of ${folder}`, async () => {
      if (existsSync(folder)) return
      await ensureBuildTools(searchPath, machine)
      await buildInto(folder, machine)
    })
  }
  return { entry: join(folder, 'node_modules', 'aws-lambda-ric', 'index.mjs') }
}

/** Hashes the lockfile, so that a change of it leads to a new folder. */
function hashSources(): string {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(SOURCES, name)))
  return hash.digest('hex').slice(0, KEY_LENGTH)
}

async function buildInto(folder: string, machine: Machine): Promise<void> {
  await removePartial(folder)
  const partial = await mkdtemp(`${folder}.partial-`)
  try {
    const startedAt = Date.now()
    machine.tell('building the runtime client of Lambda (a minute, once)')
    for (const name of FILES) await cp(join(SOURCES, name), join(partial, name))
    await buildRuntimeClient(partial, machine)
    await rename(partial, folder)
    machine.tell(
      `the runtime client of Lambda is built after ${Math.round((Date.now() - startedAt) / 1000)} s`,
    )
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** Removes the leftovers of a killed run. The caller has the lock, so no other process is writing to them. */
async function removePartial(folder: string): Promise<void> {
  const parent = dirname(folder)
  await mkdir(parent, { recursive: true })
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (path.startsWith(`${folder}.partial-`)) await rm(path, { recursive: true, force: true })
  }
}
