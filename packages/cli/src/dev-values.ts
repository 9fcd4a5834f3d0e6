import {
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingValues,
  type Sources,
} from '@counterstep/configuration'
import { NOT_OF_DEV } from './commands.ts'

/**
 * Adds the settings that `counterstep dev` does not take. They have their defaults, whatever the environment says: it
 * listens on loopback and asks for no keys. Only warnings are logged, so that its one line is not lost among others. Every
 * kind is accepted on the embedded store, which no node of another version shares.
 */
export function addDevValues(
  known: Partial<SettingValues>,
  sources: Sources<SettingName>,
): Partial<SettingValues> {
  const { known: defaults } = readSettings(SETTINGS, NOT_OF_DEV, { environment: {} })
  const log = sources.has('logLevel') ? {} : { logLevel: 'warn' as const }
  const isAlone = known.store?.family === 'sqlite'
  const kinds = sources.has('acceptNewKinds') || !isAlone ? {} : { acceptNewKinds: true }
  return { ...defaults, ...known, ...log, ...kinds }
}
