import { explainTransaction } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import type { CommandTarget } from '../../api/commands.ts'
import { formatTimeOfDay } from '../../parts/instants.ts'
import { useNow } from '../../parts/use-now.ts'

interface WhyProps {
  readonly view: TransactionView
  readonly onCommand: (target: CommandTarget) => void
}

/** The answer to the first question of everybody who comes here. */
export function Why({ view }: WhyProps) {
  const now = useNow()
  const { headline, cause, next, advice } = explainTransaction(view, { now, formatTime: formatTimeOfDay })
  const tone = view.attention === undefined ? view.status : 'attention'
  return (
    <section className="why" data-tone={tone} aria-label="Why">
      <p className="headline">{headline}</p>
      {cause === undefined ? null : <p>{cause}</p>}
      {next === undefined || next === '' ? null : <p>{next}</p>}
      {advice === undefined ? null : <p className="advice">{advice}</p>}
      {view.problem === undefined ? null : (
        <p>
          <Link to="/list" search={{ problem: view.problem }}>
            All with this problem
          </Link>{' '}
          <code className="quiet">{view.problem}</code>
        </p>
      )}
    </section>
  )
}
