import { constants, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServerFailedError } from './errors.ts'
import { exclusively } from './exclusively.ts'
import { startKept } from './kept-process.ts'
import type { SqlProgram } from './sql-program.ts'
import { userOption } from './user-option.ts'

const INITIALISE_MS_MAX = 120_000

/** Without it a MySQL lets root in only where the machine resolves 127.0.0.1 to localhost. MariaDB's script does it. */
const ROOT_BY_ADDRESS = [
  "CREATE USER IF NOT EXISTS 'root'@'127.0.0.1' IDENTIFIED BY '';",
  "GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;",
  '',
].join('\n')

/**
 * Copies an initialised, empty data folder of this server to `target`. It is made once per version and kept in the
 * cache: making it takes MySQL seconds, copying it does not.
 */
export async function copyDataSeed(program: SqlProgram, cacheFolder: string, target: string): Promise<void> {
  const name = `${program.flavor}-${program.version}-${process.arch}`.replaceAll(/[^\w.-]/g, '_')
  const seed = join(cacheFolder, 'data', name)
  if (!existsSync(seed)) {
    await exclusively(`data folder of ${name}`, async () => {
      if (!existsSync(seed)) await makeSeed(program, seed)
    })
  }
  await cp(seed, target, { recursive: true, mode: constants.COPYFILE_FICLONE })
  // It names the server; each copy draws its own.
  await rm(join(target, 'auto.cnf'), { force: true })
}

async function makeSeed(program: SqlProgram, seed: string): Promise<void> {
  await mkdir(dirname(seed), { recursive: true })
  // Only under a lock is it known that nobody writes to what a killed run left.
  if (process.platform === 'linux') await removeSiblings(`${seed}.partial-`)
  const folder = await mkdtemp(`${seed}.partial-`)
  try {
    await initialise(program, folder)
    await rename(join(folder, 'data'), seed)
  } catch (error: unknown) {
    // Another process may have been first where there is no lock.
    if (!existsSync(seed)) throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function removeSiblings(prefix: string): Promise<void> {
  const folder = dirname(prefix)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (path.startsWith(prefix)) await rm(path, { recursive: true, force: true })
  }
}

async function initialise(program: SqlProgram, folder: string): Promise<void> {
  const log = join(folder, 'log')
  const sql = join(folder, 'root.sql')
  await writeFile(sql, ROOT_BY_ADDRESS)
  const [command, ...args] = initialiseCommand(program, join(folder, 'data'), sql)
  const making = await startKept(command, args, log)
  const how = await making.end(INITIALISE_MS_MAX)
  if (how === 'exit code 0') return
  throw new ServerFailedError(
    `${command} could not make a data folder (${how}):\n${await readFile(log, 'utf8')}`,
  )
}

function initialiseCommand(program: SqlProgram, data: string, sql: string): readonly [string, ...string[]] {
  const common = [`--datadir=${data}`, `--tmpdir=${dirname(data)}`, ...userOption()]
  return program.flavor === 'mariadb'
    ? [
        program.installer,
        '--no-defaults',
        ...common,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ]
    : [
        program.command,
        ...program.prefix,
        '--no-defaults',
        ...program.options,
        ...common,
        '--initialize-insecure',
        `--init-file=${sql}`,
      ]
}
