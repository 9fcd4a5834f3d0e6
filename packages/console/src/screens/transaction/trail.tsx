import type { Actor, TrailEntry } from '@counterstep/protocol'
import { TimeOfDay } from '../../parts/instant.tsx'

/** Who commanded what, and why. The oldest is first, as it happened. */
export function Trail({ entries }: { readonly entries: readonly TrailEntry[] }) {
  if (entries.length === 0) return <p className="quiet waiting">No operator has given a command.</p>
  return (
    <ol className="trail">
      {entries.map((entry) => (
        <li key={entry.id}>
          <TimeOfDay at={entry.at} />
          <div>
            <p>
              <strong>{nameCommand(entry)}</strong> by {nameActor(entry.by)}
              <span className="quiet"> · was {entry.from}</span>
            </p>
            {entry.reason === undefined ? null : <blockquote>{entry.reason}</blockquote>}
            <Changes entry={entry} />
          </div>
        </li>
      ))}
    </ol>
  )
}

function Changes({ entry }: { readonly entry: TrailEntry }) {
  if (entry.before === undefined && entry.after === undefined) return null
  return (
    <dl className="changes">
      <dt>before</dt>
      <dd>{entry.before ?? '–'}</dd>
      <dt>after</dt>
      <dd>{entry.after ?? '–'}</dd>
    </dl>
  )
}

function nameCommand({ command, op, count, bulk }: TrailEntry): string {
  const where = op === undefined ? '' : ` of ${op.branchId} ${op.op}`
  const times = count === undefined || count < 2 ? '' : ` ×${count}`
  return `${command}${where}${times}${bulk === undefined ? '' : ` (bulk ${bulk})`}`
}

export function nameActor({ person, key, via }: Actor): string {
  const names = [person, key === undefined ? undefined : `key ${key.name}`].filter(
    (each) => each !== undefined,
  )
  return names.length === 0 ? via : `${names.join(', ')} (${via})`
}
