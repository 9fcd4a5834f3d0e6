import { describeWorkflow } from '@counterstep/explain'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { allowCommands, type OfferedCommand } from '../../commands/allow-commands.ts'
import type { CommandTarget } from '../../commands/command-target.ts'
import { Age } from '../../parts/instant.tsx'
import { Mark, StatusMark } from '../../parts/status-mark.tsx'
import { Tags } from '../../parts/tags.tsx'
import { MoreMenu } from './more-menu.tsx'

interface HeadProps {
  readonly view: TransactionView
  readonly onCommand: (target: CommandTarget) => void
}

export function TransactionHead({ view, onCommand }: HeadProps) {
  const { gid, kind, name, status, attention, paused, tags, createdAt, branches, workflow, traceId } = view
  const isByHand = branches.some(({ ops }) => ops.some(({ byHand }) => byHand !== undefined))
  const isEdited = branches.some(({ ops }) => ops.some(({ edited }) => edited === true))
  return (
    <header className="tx-head">
      <div className="tx-title">
        <h1 title={gid}>{gid}</h1>
        <p className="tx-facts">
          <StatusMark status={status} />
          {attention === undefined ? null : <Mark name="attention" />}
          {paused === undefined ? null : <Mark name="paused" />}
          {isByHand ? <Mark name="byHand" /> : null}
          {isEdited ? <Mark name="edited" /> : null}
          <span className="quiet">
            {name === undefined ? kind : `${name}, ${kind}`} · accepted <Age at={createdAt} />
          </span>
          <Tags tags={tags} />
        </p>
        {traceId === undefined ? null : <p className="quiet">trace {traceId}</p>}
        {workflow === undefined ? null : <p className="quiet">{describeWorkflow(workflow)}</p>}
      </div>
      {isFinalStatus(status) ? null : <Commands view={view} onCommand={onCommand} />}
    </header>
  )
}

function Commands({ view, onCommand }: HeadProps) {
  const { data: session } = useQuery(sessionQuery)
  const [first, second, ...others] = allowCommands(view, session)
  const give = ({ command }: OfferedCommand) => onCommand({ gid: view.gid, command })
  return (
    <div className="commands">
      {[first, second].map((offered) =>
        offered === undefined ? null : (
          <button
            key={offered.command}
            type="button"
            disabled={offered.refusal !== undefined}
            title={offered.refusal}
            onClick={() => give(offered)}
          >
            {offered.words}…
          </button>
        ),
      )}
      <MoreMenu offered={others} onGive={give} />
    </div>
  )
}
