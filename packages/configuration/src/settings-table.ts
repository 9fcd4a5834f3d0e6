import type { PanelTable } from '@counterstep/protocol'
import type { Sources } from './read-settings.ts'
import { SETTINGS, type SettingName } from './settings.ts'

export interface SettingsInForce {
  /** The texts that were read. A setting that is not among them has its default. */
  readonly texts: ReadonlyMap<SettingName, string>
  readonly sources: Sources<SettingName>
  /** These stand in the place of texts that do not say what is in force. They are shown as they are. */
  readonly outcomes: { readonly [Name in SettingName]?: string }
}

/** Makes the table of all settings of a server, for people, without any secret. */
export function toSettingsTable({ texts, sources, outcomes }: SettingsInForce): PanelTable {
  const names = Object.keys(SETTINGS) as SettingName[]
  return {
    columns: [
      { title: 'setting', type: 'code' },
      { title: 'value', type: 'code' },
      { title: 'set by', type: 'text' },
    ],
    rows: names.map((name) => {
      const text = outcomes[name] ?? removeLogins(texts.get(name) ?? SETTINGS[name].fallback)
      return [name, text === '' ? null : text, sources.get(name) ?? 'default']
    }),
  }
}

/**
 * Removes all between the first slashes of a URL and the last @, since a password may have any character in it. In a
 * list of URLs that removes too much, and never too little.
 */
function removeLogins(text: string): string {
  const [from, to] = [text.indexOf('//'), text.lastIndexOf('@')]
  return from === -1 || to < from ? text : `${text.slice(0, from)}//…${text.slice(to)}`
}
