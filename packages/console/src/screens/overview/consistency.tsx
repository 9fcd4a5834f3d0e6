import type { OverviewView } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { Age } from '../../parts/instant.tsx'
import { useNow } from '../../parts/use-now.ts'
import { Card } from './card.tsx'
import { UNFINISHED } from './cards.tsx'

const LONG_MS = 3_600_000

export function Consistency({ view }: { readonly view: OverviewView }) {
  const now = useNow()
  const { attention, paused, byHand, oldestUnfinishedAt } = view
  const isOld = oldestUnfinishedAt !== undefined && now - oldestUnfinishedAt > LONG_MS
  return (
    <Card title="Consistent?" tone={attention > 0 ? 'bad' : 'good'}>
      {attention === 0 ? (
        <p className="figure">
          <span className="glyph">✓</span> Nothing needs a person
        </p>
      ) : (
        <p className="figure">
          <Link to="/problems" search={{ tab: 'attention' }}>
            <span className="glyph">⚠</span> {attention.toLocaleString()}
          </Link>{' '}
          need a person
        </p>
      )}
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
