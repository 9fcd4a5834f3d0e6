import type { BulkView } from '@counterstep/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type BulkJobCommand, bulkJobKey, bulkJobQuery, commandBulkJob, hasEnded } from '../../api/bulk.ts'
import { BULK_WORDS } from '../../commands/bulk-target.ts'
import { readListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { parseSearch } from '../../filters/search-text.ts'
import { Age } from '../../parts/instant.tsx'
import { ProblemText, Trouble } from '../../parts/notice.tsx'
import { describeFilter, describeJob } from './describe-job.ts'
import { JobCounts } from './job-counts.tsx'
import '../../style/bulk.css'

/** One bulk job: where it stands, and what has become of each of its transactions. */
export function BulkJob() {
  const { id } = useParams({ from: '/bulk/$id' })
  const { data: job, error, refetch } = useQuery(bulkJobQuery(id))
  if (job === undefined && error !== null)
    return <Trouble error={error} what="the bulk job" onRetry={() => void refetch()} />
  if (job === undefined) return <p className="quiet waiting">Reading …</p>
  return (
    <section className="bulk">
      <header className="job-head">
        <div>
          <h1>
            {BULK_WORDS[job.command].verb} {job.counts?.total.toLocaleString()} transactions
          </h1>
          <p aria-live="polite">{describeJob(job)}</p>
        </div>
        {hasEnded(job) ? null : <JobButtons job={job} />}
      </header>
      {error === null ? null : <ProblemText error={error} />}
      {job.counts === undefined ? null : <JobCounts job={job} counts={job.counts} />}
      <Given job={job} />
    </section>
  )
}

function JobButtons({ job }: { readonly job: BulkView }) {
  const client = useQueryClient()
  const give = useMutation({
    mutationFn: (command: BulkJobCommand) => commandBulkJob(job.id, command),
    onSuccess: (view) => client.setQueryData(bulkJobKey(job.id), view),
  })
  const first: BulkJobCommand = job.state === 'paused' ? 'resume' : 'pause'
  return (
    <div className="job-buttons">
      {give.error === null ? null : <ProblemText error={give.error} />}
      <button type="button" disabled={give.isPending} onClick={() => give.mutate(first)}>
        {first === 'resume' ? 'Resume' : 'Pause'}
      </button>
      <button type="button" disabled={give.isPending} onClick={() => give.mutate('cancel')}>
        Cancel the job
      </button>
    </div>
  )
}

function Given({ job }: { readonly job: BulkView }) {
  const { by, createdAt, reason, filter, canary, ratePerSecond } = job
  return (
    <dl className="job-facts">
      <dt>reason</dt>
      <dd>{reason}</dd>
      <dt>given by</dt>
      <dd>
        {by.person ?? by.key?.name ?? by.via}, <Age at={createdAt} />
      </dd>
      <dt>pace</dt>
      <dd>
        {canary} first, then at most {ratePerSecond} a second
      </dd>
      {filter === undefined ? null : (
        <>
          <dt>chosen by</dt>
          <dd>
            <Link to="/list" search={writeListFilter(readListFilter(parseSearch(filter)))}>
              {filter === '' ? 'all that had not ended' : describeFilter(parseSearch(filter))}
            </Link>
          </dd>
        </>
      )}
    </dl>
  )
}
