import type { OverviewView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { problemsQuery } from '../../api/queries.ts'
import { Age } from '../../parts/instant.tsx'
import { useNow } from '../../parts/use-now.ts'
import { Card } from './card.tsx'
import { UNFINISHED } from './cards.tsx'
import { type Judgement, judgeConsistency } from './judge-consistency.ts'

const LONG_MS = 3_600_000

export function Consistency({ view }: { readonly view: OverviewView }) {
  const now = useNow()
  const { data: problems } = useQuery(problemsQuery)
  const { attention, paused, byHand, oldestUnfinishedAt } = view
  const judgement = judgeConsistency(attention, problems?.items)
  const isOld = oldestUnfinishedAt !== undefined && now - oldestUnfinishedAt > LONG_MS
  return (
    <Card title="Consistent?" tone={judgement.tone}>
      {attention > 0 ? (
        <p className="figure">
          <Link to="/problems" search={{ tab: 'attention' }}>
            <span className="glyph">⚠</span>
            {attention.toLocaleString()}
          </Link>{' '}
          need a person
        </p>
      ) : null}
      <Retrying judgement={judgement} />
      <ul className="lines">
        {isOld ? (
          <li>
            <Link to="/list" search={UNFINISHED}>
              the oldest unfinished
            </Link>{' '}
            is from <Age at={oldestUnfinishedAt} />
          </li>
        ) : null}
        <CountLine count={paused} flag="paused" words="paused" />
        <CountLine count={byHand} flag="byHand" words="went on by hand" />
      </ul>
    </Card>
  )
}

/** A call that is made again may never succeed, for example at a wrong URL, so it is no reason for a green mark. */
function Retrying({ judgement: { tone, retrying, top, others } }: { readonly judgement: Judgement }) {
  if (retrying === 0) {
    if (tone === 'bad') return null
    return (
      <p className="figure">
        {tone === 'good' ? <span className="glyph">✓ </span> : null}Nothing needs a person
      </p>
    )
  }
  return (
    <>
      <p className="figure" data-tone="warn">
        <Link to="/problems" search={{ tab: 'retrying' }}>
          <span className="glyph">↻</span>
          {retrying.toLocaleString()}
        </Link>{' '}
        {retrying === 1 ? 'is' : 'are'} called again
      </p>
      <ul className="lines">
        {top.map(({ problem, count }) => (
          <li key={problem} className="clip">
            <Link to="/problems" search={{ tab: 'retrying', problem }} title={problem}>
              {count.toLocaleString()} × {problem}
            </Link>
          </li>
        ))}
        {others === 0 ? null : (
          <li>
            <Link to="/problems" search={{ tab: 'retrying' }}>
              {others.toLocaleString()} further {others === 1 ? 'problem' : 'problems'}
            </Link>
          </li>
        )}
        {tone === 'bad' ? null : <li className="quiet">nothing needs a person now</li>}
      </ul>
    </>
  )
}

function CountLine({
  count,
  flag,
  words,
}: {
  readonly count: number
  readonly flag: string
  readonly words: string
}) {
  if (count === 0) return null
  return (
    <li>
      <Link to="/list" search={{ [flag]: 'true' }}>
        {count.toLocaleString()}
      </Link>{' '}
      {words}
    </li>
  )
}
