import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runToEnd } from '../processes/run-to-end.ts'
import type { DataSeed } from './data-seed.ts'
import type { SqlProgram } from './sql-program.ts'
import { userOption } from './user-option.ts'

/** Without this MySQL accepts root only if the machine resolves 127.0.0.1 to localhost. MariaDB's script does it itself. */
const ROOT_BY_ADDRESS = [
  "CREATE USER IF NOT EXISTS 'root'@'127.0.0.1' IDENTIFIED BY '';",
  "GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;",
  '',
].join('\n')

/** Makes an empty data folder of a MariaDB or MySQL. */
export function sqlSeed(program: SqlProgram): DataSeed {
  return {
    name: `${program.flavor}-${program.version}`,
    async fill(folder) {
      const sql = join(folder, 'root.sql')
      await writeFile(sql, ROOT_BY_ADDRESS)
      const [command, ...args] = initialiseCommand(program, join(folder, 'data'), sql)
      await runToEnd(command, args, join(folder, 'log'))
    },
  }
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
