import { type KeyFinder, toKeyTable } from '@counterstep/access'
import type { EngineSettings } from '@counterstep/engine'
import type { PanelTable } from '@counterstep/protocol'
import type { Panel } from '@counterstep/server'

/** Puts together what an app has beside transactions. An app that finds its keys by itself may be unable to list them. */
export function listPanels(settings: EngineSettings, keys: KeyFinder | undefined): readonly Panel[] {
  const list = keys?.list?.bind(keys)
  return [
    ...(list === undefined
      ? []
      : [
          {
            id: 'keys',
            title: 'API keys',
            access: ['admin'] as const,
            read: () => toKeyTable(list(), Date.now()),
          },
        ]),
    { id: 'settings', title: 'Settings', access: ['read'], read: () => toEngineTable(settings) },
  ]
}

function toEngineTable({ retry, ...others }: EngineSettings): PanelTable {
  const ofRetry = Object.entries(retry).map(([name, value]) => [`retry.${name}`, value] as const)
  return {
    columns: [
      { title: 'setting', type: 'code' },
      { title: 'value', type: 'code' },
    ],
    rows: [...Object.entries(others), ...ofRetry].map(([name, value]) => [
      name,
      value === null ? null : String(value),
    ]),
  }
}
