import type { BulkCountsView, BulkView } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'

const REFUSALS_SHOWN = 5

interface JobCountsProps {
  readonly job: BulkView
  readonly counts: BulkCountsView
}

/** The counts always add up: all of them together are the total. */
export function JobCounts({ job, counts }: JobCountsProps) {
  const { total, waiting, gotOn, failedAgain, notAnswered, refused, gone } = counts
  const shares = [
    { name: 'got-on', words: 'got on', count: gotOn },
    { name: 'failed-again', words: 'failed again', count: failedAgain },
    { name: 'not-answered', words: 'given, not answered yet', count: notAnswered },
    { name: 'refused', words: 'refused', count: refused },
    { name: 'gone', words: 'no longer there', count: gone },
    { name: 'waiting', words: job.state === 'cancelled' ? 'never given' : 'waiting', count: waiting },
  ]
  return (
    <>
      <svg className="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" role="img">
        <title>
          {total - waiting} of {total} have the command
        </title>
        <ShareRects shares={shares} total={total} />
      </svg>
      <table className="shares">
        <caption className="unseen">What has become of the transactions</caption>
        <tbody>
          {shares.map(({ name, words, count }) => (
            <tr key={name} data-empty={count === 0}>
              <th scope="row">
                <span className="swatch" data-share={name} aria-hidden="true" /> {words}
              </th>
              <td>{count.toLocaleString()}</td>
            </tr>
          ))}
          <tr className="sum">
            <th scope="row">together</th>
            <td>{total.toLocaleString()}</td>
          </tr>
        </tbody>
      </table>
      <Refusals counts={counts} />
    </>
  )
}

interface ShareRectsProps {
  readonly shares: readonly { readonly name: string; readonly count: number }[]
  readonly total: number
}

function ShareRects({ shares, total }: ShareRectsProps) {
  let from = 0
  return shares.map(({ name, count }) => {
    const width = total === 0 ? 0 : (count / total) * 100
    const x = from
    from += width
    return <rect key={name} x={x} y={0} width={width} height={1} data-share={name} />
  })
}

function Refusals({ counts: { refusedBy, refusals } }: { readonly counts: BulkCountsView }) {
  if (refusals.length === 0) return null
  return (
    <div className="refusals">
      <h2>Refused</h2>
      <ul>
        {Object.entries(refusedBy).map(([code, count]) => (
          <li key={code}>
            {count.toLocaleString()} × <code>{code}</code>
          </li>
        ))}
      </ul>
      <p className="quiet">
        For example{' '}
        {refusals.slice(0, REFUSALS_SHOWN).map(({ gid }, position) => (
          <span key={gid}>
            {position === 0 ? '' : ', '}
            <Link to="/tx/$gid" params={{ gid }}>
              {gid}
            </Link>
          </span>
        ))}
      </p>
    </div>
  )
}
