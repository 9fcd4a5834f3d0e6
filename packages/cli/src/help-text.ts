import {
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  SETTINGS,
  type SettingName,
  toFlag,
} from '@counterstep/configuration'
import { ALERTS_USAGE } from './alerts-command.ts'
import { type CommandName, listSettings } from './commands.ts'
import { DTM_CHECK_USAGE } from './dtm-check-usage.ts'
import { SIGNING_KEY_USAGE } from './signing-key-command.ts'

const STORES = [
  'Stores',
  '  sqlite:PATH, or a path                         embedded; one process',
  '  mysql://USER@HOST:PORT/DATABASE, mariadb://…   several processes; its tables come from counterstep migrate',
  '  postgres://USER@HOST:PORT/DATABASE             several processes; its tables come from counterstep migrate, and npm install pg',
  '  redis://HOST:PORT, rediss://…                  several processes',
  '  redis-cluster://HOST:PORT,HOST:PORT,…, rediss-cluster://…',
  `  The password: ${PASSWORD_VARIABLE}, or ${PASSWORD_FILE_VARIABLE} (names a file), or`,
  '  in the URL by COUNTERSTEP_STORE. Options show in the list of processes, so there is none for it.',
]

const SERVE = [
  'counterstep serve [options]     runs the orchestrator',
  'counterstep dev [options]       runs it for development, with the console and breakable branches; see dev --help',
  'counterstep keys …              makes, lists and revokes API keys; see keys --help',
  'counterstep signal GID NAME …   gives a saga a signal that it waits for; see signal --help',
  'counterstep tx …                finds and mends transactions: list, show, watch, retry, …; see tx --help',
  'counterstep problems            counts what waits, by what it waits for; also services and overview',
  'counterstep bulk …              gives one command to many transactions; see bulk --help',
  'counterstep migrate [options]   creates or updates the tables of a store on MySQL or PostgreSQL; see migrate --help',
  ...SIGNING_KEY_USAGE,
  ALERTS_USAGE,
  DTM_CHECK_USAGE,
]

const DEV = [
  'counterstep dev [options]',
  '',
  'Runs the orchestrator for one developer: on loopback, without keys, with the console, whose playground submits',
  'transactions and breaks the calls of branches on purpose. Without --data or --store, all that it keeps goes when it',
  'stops. DTM’s API is on only with --dtm-port, and only warnings are logged unless --log-level says more.',
]

const MIGRATE = [
  'counterstep migrate --store mysql://ADMIN@HOST:PORT/DATABASE [options], or postgres://…',
  '',
  'Creates or updates the tables that serve needs, as a user who may do that; serve itself gets by with',
  'SELECT, INSERT, UPDATE and DELETE on them. Safe to repeat, and beside running servers. sqlite and redis',
  'need none of it.',
]

const HEADS: Readonly<Record<CommandName, readonly string[]>> = { serve: SERVE, dev: DEV, migrate: MIGRATE }

const SIGNALS =
  'Instants and spans are in milliseconds. SIGTERM and SIGINT stop it within 10 s; a second one at once.'

export function writeHelp(command: CommandName): string {
  const isServer = command !== 'migrate'
  return [
    ...HEADS[command],
    '',
    ...listSettings(command).map(writeSettingRow),
    ...(isServer ? [writeRow('ready-json', 'print {"url": …} on one line of stdout when listening')] : []),
    writeRow(
      'config',
      'JSON file of settings, e.g. {"port": 8470, "services": {"bank": "https://bank.example"}}',
    ),
    writeRow('help', 'print this'),
    writeRow('version', 'print the version'),
    '',
    ...STORES,
    '',
    'Each option may come from the environment: --store-tls is COUNTERSTEP_STORE_TLS; or from the file of',
    '--config, where it is storeTls. The option wins over the environment, and that over the file.',
    ...(isServer ? [SIGNALS] : []),
    '',
  ].join('\n')
}

function writeSettingRow(name: SettingName): string {
  const { help, fallback, stores } = SETTINGS[name]
  const only = stores === undefined ? '' : ` [${stores.join(', ')}]`
  return writeRow(toFlag(name), `${help}${fallback === '' ? '' : ` (${fallback})`}${only}`)
}

function writeRow(flag: string, help: string): string {
  return `  --${flag.padEnd(26)} ${help}`
}
