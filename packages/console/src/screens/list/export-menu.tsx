import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'
import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { API_URL } from '../../api/api-url.ts'
import { callApi } from '../../api/client.ts'
import { readServerTime } from '../../api/clock.ts'
import { type CollectedRows, collectPages, EXPORT_ROWS_MAX } from '../../api/collect-pages.ts'
import { type ListFilter, toListQuery } from '../../filters/list-filter.ts'
import { stringifySearch } from '../../filters/search-text.ts'
import { toListCommand } from '../../filters/to-list-command.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { toCurl } from '../../parts/to-curl.ts'
import { toCsv } from './to-csv.ts'

/** Pages wait for their turn among the readers of the server. */
const COLLECT_MS_MAX = 120_000

type Rows = readonly TransactionSummary[]

const FORMATS = {
  csv: { words: 'CSV', type: 'text/csv', write: toCsv },
  json: { words: 'JSON', type: 'application/json', write: (rows: Rows) => JSON.stringify(rows, null, 2) },
  txt: {
    words: 'gids',
    type: 'text/plain',
    write: (rows: Rows) => rows.map(({ gid }) => `${gid}\n`).join(''),
  },
} as const
type Format = keyof typeof FORMATS

interface ExportProps {
  readonly filter: ListFilter
  readonly rows: Rows
}

/** Takes the rows to elsewhere: those that are shown, or all that match up to a bound. */
export function ExportMenu({ filter, rows }: ExportProps) {
  const id = useId()
  const [isAll, wantAll] = useState(false)
  const saving = useMutation({
    mutationFn: async (format: Format): Promise<CollectedRows> => {
      const signal = AbortSignal.timeout(COLLECT_MS_MAX)
      const read = (query: string) => callApi<TransactionPage>(`transactions${query}`, { signal })
      const found = isAll ? await collectPages(filter, readServerTime(), read) : { rows, isCut: false }
      const { type, write } = FORMATS[format]
      saveFile(`transactions.${format}`, type, write(found.rows))
      return found
    },
  })
  const query = stringifySearch(toListQuery(filter, readServerTime()))
  const url = new URL(`transactions${query}`, API_URL).href
  return (
    <div className="export">
      <label htmlFor={id} className="quiet">
        Export
      </label>
      <select
        id={id}
        value={isAll ? 'all' : 'shown'}
        onChange={(event) => wantAll(event.target.value === 'all')}
      >
        <option value="shown">the {rows.length.toLocaleString()} rows here</option>
        <option value="all">all that match, up to {EXPORT_ROWS_MAX.toLocaleString()}</option>
      </select>
      {(Object.keys(FORMATS) as readonly Format[]).map((format) => (
        <button
          key={format}
          type="button"
          className="small"
          disabled={saving.isPending}
          onClick={() => saving.mutate(format)}
        >
          {FORMATS[format].words}
        </button>
      ))}
      <CopyButton text={toCurl({ url })} label="as curl" />
      <CopyButton
        text={toListCommand(filter, isAll ? EXPORT_ROWS_MAX : Math.max(1, rows.length))}
        label="as CLI"
      />
      <span className="quiet" aria-live="polite">
        {saving.isPending ? 'collecting …' : saving.data === undefined ? '' : describeSaved(saving.data)}
      </span>
      {saving.error === null ? null : <ProblemText error={saving.error} />}
    </div>
  )
}

function describeSaved({ rows, isCut }: CollectedRows): string {
  const count = `${rows.length.toLocaleString()} ${rows.length === 1 ? 'row' : 'rows'} saved`
  return isCut ? `${count}; there may be more that match` : count
}
