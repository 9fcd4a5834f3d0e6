import { SETTINGS, type SettingName } from '@counterstep/configuration'

export type CommandName = keyof typeof COMMANDS

const ALL = Object.keys(SETTINGS) as SettingName[]

/** Each command takes these settings. */
export const COMMANDS = {
  serve: ALL as readonly SettingName[],
  migrate: ['store', 'storeTls', 'storeTlsCa', 'storeTlsServerName', 'storeWaitMs'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>

export function findCommand(word: string | undefined): CommandName | undefined {
  return word === 'serve' || word === 'migrate' ? word : undefined
}

export function listSettings(command: CommandName): readonly SettingName[] {
  return COMMANDS[command]
}
