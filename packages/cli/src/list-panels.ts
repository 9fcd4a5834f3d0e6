import { type KeyRing, toKeyTable } from '@counterstep/access'
import { type TopicStore, toTopicTable } from '@counterstep/dtm'
import type { Panel } from '@counterstep/server'
import type { ServeConfig } from './config.ts'

/** Puts together what the server has beside transactions. None of the panels holds a secret. */
export function listPanels(
  { dtmPort, settingsTable }: ServeConfig,
  keys: KeyRing | undefined,
  topics: TopicStore,
): readonly Panel[] {
  const read = ['read'] as const
  return [
    ...(dtmPort === 'off'
      ? []
      : [
          {
            id: 'dtm-topics',
            title: 'DTM topics',
            access: read,
            read: async () => toTopicTable(await topics.list()),
          },
        ]),
    ...(keys === undefined
      ? []
      : [
          {
            id: 'keys',
            title: 'API keys',
            access: ['admin'] as const,
            read: () => toKeyTable(keys.list(), Date.now()),
          },
        ]),
    { id: 'settings', title: 'Settings', access: read, read: () => settingsTable },
  ]
}
