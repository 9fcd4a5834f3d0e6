import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServerMissingError } from '../errors.ts'
import { fillCacheFolder } from './fill-cache-folder.ts'
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
    await fillCacheFolder(folder, (partial) => fetchInto(partial, { compiler, maven, machine }))
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

async function fetchInto(folder: string, { compiler, maven, machine }: Toolchain): Promise<string> {
  machine.tell('downloading ElasticMQ from Maven Central (36 MB, once)')
  await step(machine, maven, [
    ...['--quiet', '--batch-mode', '--file', join(SOURCES, 'pom.xml'), `-Delasticmq.out=${folder}`],
    'dependency:copy-dependencies',
  ])
  const classPath = join(folder, 'dependency', '*')
  await step(machine, compiler, ['-cp', classPath, '-d', folder, join(SOURCES, 'Main.java')])
  machine.tell('ElasticMQ is there')
  return folder
}

async function step(machine: Machine, command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await machine.run(command, args)
  if (code === 0) return
  const end = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
  throw new ServerMissingError(`no ElasticMQ here: ${command} failed with exit code ${code}: ${end}`)
}
