import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServerMissingError } from '../errors.ts'
import { exclusively } from '../processes/exclusively.ts'
import { findBinaries } from './find-binaries.ts'
import { type Machine, NOT_ALLOWED, thisMachine } from './machine.ts'

const SOURCES = join(import.meta.dirname, '../..', 'elasticmq')
const KEY_LENGTH = 12
const OUTPUT_LINES_SHOWN = 5

export interface ElasticmqProgram {
  /** The command that runs the machine's Java. */
  readonly command: string
  readonly classPath: string
}

/** Finds ElasticMQ in the cache or fetches it from Maven Central. Throws ServerMissingError with the reason if it cannot. */
export async function elasticmqProgram(
  cacheFolder: string,
  searchPath: readonly string[],
  machine: Machine = thisMachine(),
): Promise<ElasticmqProgram> {
  const java = await need('java', searchPath)
  const folder = join(cacheFolder, `elasticmq-${hashSources()}`)
  if (!existsSync(folder)) {
    if (!machine.mayInstall) throw new ServerMissingError(`no ElasticMQ here: ${NOT_ALLOWED}`, true)
    const compiler = await need('javac', searchPath)
    const maven = await need('mvn', searchPath)
    await exclusively(`download of ${folder}`, async () => {
      if (!existsSync(folder)) await fetchInto(folder, { compiler, maven, machine })
    })
  }
  return { command: java, classPath: `${folder}:${join(folder, 'dependency', '*')}` }
}

/** Finds a command that a run cannot install, such as Java. It is excused also in CI. */
async function need(command: string, searchPath: readonly string[]): Promise<string> {
  const found = (await findBinaries([command], searchPath))[0]
  if (found !== undefined) return found
  throw new ServerMissingError(
    `no ElasticMQ here: ${command} is not on the PATH. Install Java and Maven (Debian, Ubuntu: apt-get install default-jdk-headless maven; macOS: brew install maven)`,
    true,
  )
}

/** Hashes the files that decide what is fetched and how it is started, so that a change makes a new folder. */
function hashSources(): string {
  const hash = createHash('sha256')
  for (const name of ['pom.xml', 'Main.java']) hash.update(readFileSync(join(SOURCES, name)))
  return hash.digest('hex').slice(0, KEY_LENGTH)
}

interface Toolchain {
  readonly compiler: string
  readonly maven: string
  readonly machine: Machine
}

async function fetchInto(folder: string, { compiler, maven, machine }: Toolchain): Promise<void> {
  await removePartial(folder)
  const partial = await mkdtemp(`${folder}.partial-`)
  try {
    machine.tell('downloading ElasticMQ from Maven Central (36 MB, once)')
    await step(machine, maven, [
      ...['--quiet', '--batch-mode', '--file', join(SOURCES, 'pom.xml'), `-Delasticmq.out=${partial}`],
      'dependency:copy-dependencies',
    ])
    const classPath = join(partial, 'dependency', '*')
    await step(machine, compiler, ['-cp', classPath, '-d', partial, join(SOURCES, 'Main.java')])
    await rename(partial, folder)
    machine.tell('ElasticMQ is there')
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** Removes what a killed run has left. Under the lock no other process writes to it. */
async function removePartial(folder: string): Promise<void> {
  const parent = join(folder, '../..')
  await mkdir(parent, { recursive: true })
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (path.startsWith(`${folder}.partial-`)) await rm(path, { recursive: true, force: true })
  }
}

async function step(machine: Machine, command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await machine.run(command, args)
  if (code === 0) return
  const end = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
  throw new ServerMissingError(`no ElasticMQ here: ${command} failed with exit code ${code}: ${end}`)
}
