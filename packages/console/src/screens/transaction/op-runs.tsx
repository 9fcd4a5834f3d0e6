import { toTone } from '@counterstep/explain'
import type { AttemptRun } from '@counterstep/protocol'
import { TimeOfDay } from '../../parts/instant.tsx'

/** The attempts so far, the newest first. */
export function OpRuns({ runs }: { readonly runs: readonly AttemptRun[] }) {
  if (runs.length === 0) return null
  return (
    <ul className="runs">
      {[...runs].reverse().map(({ outcome, count, from, firstAt, lastAt, excerpt }) => (
        <li key={from} data-tone={toTone(outcome)}>
          <strong>{outcome}</strong> ×{count}{' '}
          <span className="quiet">
            <TimeOfDay at={firstAt} />
            {count > 1 ? (
              <>
                –<TimeOfDay at={lastAt} />
              </>
            ) : null}
          </span>
          {excerpt === undefined || excerpt === '' ? null : <q>{excerpt}</q>}
        </li>
      ))}
    </ul>
  )
}
