import { SETTINGS, type SettingName } from '@counterstep/configuration'

export type CommandName = keyof typeof COMMANDS

const ALL = Object.keys(SETTINGS) as SettingName[]

/** `counterstep dev` is for one developer on one machine: it listens on loopback, asks for no keys, has the console. */
export const NOT_OF_DEV: readonly SettingName[] = [
  'host',
  'keysFile',
  'insecureNoKeys',
  'console',
  'ratePerKey',
  'dailySubmitsPerKey',
  'dailyBytesPerKey',
  'dtmNetworks',
  'dtmNetworksScopes',
]

/** Each command takes these settings. */
export const COMMANDS = {
  serve: ALL as readonly SettingName[],
  dev: ALL.filter((name) => !NOT_OF_DEV.includes(name)),
  migrate: ['store', 'storeTls', 'storeTlsCa', 'storeTlsServerName', 'storeWaitMs'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>

export function findCommand(word: string | undefined): CommandName | undefined {
  return word === 'serve' || word === 'dev' || word === 'migrate' ? word : undefined
}

export function listSettings(command: CommandName): readonly SettingName[] {
  return COMMANDS[command]
}
