import { withoutQuery } from '@counterstep/core'
import type { PanelTable } from '@counterstep/protocol'
import type { Topic } from './topic-store.ts'

/** Makes the table of topics, a row for each subscriber. The query of a URL may hold a secret, so it is not shown. */
export function toTopicTable(topics: readonly Topic[]): PanelTable {
  return {
    columns: [
      { title: 'topic', type: 'code' },
      { title: 'subscriber', type: 'code' },
      { title: 'remark', type: 'text' },
    ],
    rows: topics
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name, subscribers }) =>
        subscribers.length === 0
          ? [[name, null, null]]
          : subscribers.map(({ url, remark }) => [name, withoutQuery(url), remark === '' ? null : remark]),
      ),
  }
}
