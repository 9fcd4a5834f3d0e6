import type { BulkPreview, BulkRequest } from '@counterstep/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { API_URL } from '../api/api-url.ts'
import { bulkJobKey, previewBulk, startBulk } from '../api/bulk.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Age } from '../parts/instant.tsx'
import { ProblemText } from '../parts/notice.tsx'
import { toCurl } from '../parts/to-curl.ts'
import {
  BULK_WORDS,
  type BulkTarget,
  describeDrift,
  toBulkCommandLine,
  toBulkRequest,
} from './bulk-target.ts'
import { Reason } from './reason.tsx'
import '../style/dialog.css'
import '../style/bulk.css'

const CANARY = 10
const RATE_PER_SECOND = 20

interface BulkDialogProps {
  readonly target: BulkTarget
  readonly onClose: () => void
}

/** Says which transactions would get the command, then starts the job and shows it. */
export function BulkDialog({ target, onClose }: BulkDialogProps) {
  const [reason, setReason] = useState('')
  const [canary, setCanary] = useState(CANARY)
  const [ratePerSecond, setRate] = useState(RATE_PER_SECOND)
  const preview = useQuery({
    queryKey: ['bulk-preview', target],
    queryFn: () => previewBulk(toBulkRequest(target, { reason: 'a preview' })),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const start = useStart()
  const { verb, follows } = BULK_WORDS[target.command]
  const count = preview.data?.count
  const words = `${verb} ${count === undefined ? '' : `${count.toLocaleString()} `}transactions`
  const request = toBulkRequest(target, { reason: reason.trim(), canary, ratePerSecond })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const previewed = preview.data?.previewed
    start.mutate(previewed === undefined ? request : { ...request, previewed })
  }
  return (
    <Dialog title={`${words}?`} onClose={onClose}>
      <form onSubmit={submit} className="command">
        <p>{follows} The list is fixed now: what comes to match later is not touched.</p>
        {preview.data === undefined ? null : (
          <Chosen preview={preview.data} drift={describeDrift(target.expected, preview.data)} />
        )}
        {preview.error === null ? null : <ProblemText error={preview.error} />}
        <Reason value={reason} isRequired onChange={setReason} />
        <Pace canary={canary} rate={ratePerSecond} onCanary={setCanary} onRate={setRate} />
        {start.error === null ? null : <ProblemText error={start.error} />}
        <footer>
          <CopyAs request={request} />
          <span className="space" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="primary"
            data-tone={target.command}
            disabled={reason.trim() === '' || count === undefined || count === 0 || start.isPending}
          >
            {start.isPending ? 'Starting …' : words}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function useStart() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: startBulk,
    onSuccess: (job) => {
      client.setQueryData(bulkJobKey(job.id), job)
      void navigate({ to: '/bulk/$id', params: { id: job.id } })
    },
  })
}

interface ChosenProps {
  readonly preview: BulkPreview
  readonly drift: string | undefined
}

function Chosen({ preview, drift }: ChosenProps) {
  const { count, isExact, oldestAt, groups, samples } = preview
  return (
    <div className="plan">
      <h3>
        {count.toLocaleString()}
        {isExact ? '' : ' or more'} match
        {oldestAt === undefined ? null : (
          <span className="quiet">
            , the oldest from <Age at={oldestAt} />
          </span>
        )}
      </h3>
      {drift === undefined ? null : <p>{drift}</p>}
      {groups.map((group) => (
        <p key={`${group.problem} ${group.name}`}>
          {group.count.toLocaleString()} × {group.problem ?? 'without a problem'}
          {group.name === undefined ? null : <span className="quiet"> · {group.name}</span>}
        </p>
      ))}
      <p className="quiet">For example {samples.join(', ')}</p>
    </div>
  )
}

interface PaceProps {
  readonly canary: number
  readonly rate: number
  readonly onCanary: (canary: number) => void
  readonly onRate: (rate: number) => void
}

function Pace({ canary, rate, onCanary, onRate }: PaceProps) {
  return (
    <div className="pace">
      <label>
        The first
        <input
          type="number"
          min={0}
          max={1_000}
          value={canary}
          onChange={(event) => onCanary(Number(event.target.value))}
        />
        go alone, and the others follow once four fifths of these have got on
      </label>
      <label>
        At most
        <input
          type="number"
          min={1}
          max={500}
          value={rate}
          onChange={(event) => onRate(Number(event.target.value))}
        />
        a second
      </label>
    </div>
  )
}

function CopyAs({ request }: { readonly request: BulkRequest }) {
  const url = new URL('bulk', API_URL).href
  return (
    <>
      <CopyButton text={toCurl({ url, method: 'POST', body: { ...request } })} label="as curl" />
      <CopyButton text={toBulkCommandLine(request)} label="as CLI" />
    </>
  )
}
