import { SETTINGS, type SettingName } from '@counterstep/configuration'

export type CommandName = keyof typeof COMMANDS

const ALL = Object.keys(SETTINGS) as SettingName[]

/** The settings that each command takes. */
export const COMMANDS = {
  serve: ALL as readonly SettingName[],
  migrate: ['store', 'storeTls', 'storeTlsCa', 'storeTlsServerName', 'storeWaitMs'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>

export function commandNamed(word: string | undefined): CommandName | undefined {
  return word === 'serve' || word === 'migrate' ? word : undefined
}

export function settingsOf(command: CommandName): readonly SettingName[] {
  return COMMANDS[command]
}
