import { adviseOn, describeOutcome, type Lane, readService } from '@counterstep/explain'
import type { OperatorCommand, TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { sessionQuery } from '../../api/session.ts'
import { allowOpCommands, findMissingScope } from '../../commands/allow-commands.ts'
import type { CommandTarget } from '../../commands/command-target.ts'
import { OpFacts } from './op-facts.tsx'
import { OpRuns } from './op-runs.tsx'

interface PanelProps {
  readonly view: TransactionView
  readonly lane: Lane
  readonly onCommand: (target: CommandTarget) => void
}

/** All that is known of one op, and what can be done about it. */
export function OpPanel({ view, lane, onCommand }: PanelProps) {
  const { op, branchId } = lane
  const outcome = op.error ?? (op.statusCode === undefined ? undefined : String(op.statusCode))
  const isTroubled = op.state === 'waiting' && outcome !== undefined
  return (
    <section className="op-panel" aria-label={`${branchId ?? ''} ${op.op}`}>
      <header>
        <h2>
          {branchId === undefined ? '' : `${branchId} · `}
          {op.op}
        </h2>
        <Link
          from="/tx/$gid"
          to="/tx/$gid"
          params={{ gid: view.gid }}
          search={dropOp}
          className="icon"
          aria-label="Close"
        >
          ×
        </Link>
      </header>
      {isTroubled ? (
        <p>
          {readService(op)} {describeOutcome(outcome, op.op)}. {adviseOn(outcome, op.op)}
        </p>
      ) : null}
      <OpFacts op={op} />
      <OpRuns runs={op.runs ?? []} />
      {op.answer === undefined || op.answer === '' || op.answer === op.runs?.at(-1)?.excerpt ? null : (
        <figure className="answer">
          <figcaption className="quiet">the last answer begins</figcaption>
          <pre>{op.answer}</pre>
        </figure>
      )}
      {branchId === undefined ? null : (
        <OpCommands
          commands={allowOpCommands(view, branchId, op)}
          target={{ gid: view.gid, op: { branchId, op: op.op } }}
          isDone={op.state === 'succeeded'}
          onCommand={onCommand}
        />
      )}
    </section>
  )
}

function dropOp({ op: _op, ...others }: Record<string, string>): Record<string, string> {
  return others
}

interface OpCommandsProps {
  readonly commands: readonly OpCommand[]
  readonly target: Omit<CommandTarget, 'command'>
  readonly isDone: boolean
  readonly onCommand: (target: CommandTarget) => void
}

type OpCommand = Extract<OperatorCommand, 'retry-op' | 'skip' | 'edit'>

const WORDS: Readonly<Record<OpCommand, string>> = {
  'retry-op': 'Retry this call',
  skip: 'Skip',
  edit: 'Edit',
}

function OpCommands({ commands, target, isDone, onCommand }: OpCommandsProps) {
  const { data: session } = useQuery(sessionQuery)
  if (commands.length === 0) return null
  return (
    <p className="commands">
      {commands.map((command) => {
        const refusal = isDone ? 'it has succeeded' : findMissingScope(command, session)
        return (
          <button
            key={command}
            type="button"
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => onCommand({ ...target, command })}
          >
            {WORDS[command]}…
          </button>
        )
      })}
    </p>
  )
}
