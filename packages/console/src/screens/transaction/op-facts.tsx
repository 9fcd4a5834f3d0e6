import { formatDuration } from '@counterstep/explain'
import type { OpView } from '@counterstep/protocol'
import type { ReactNode } from 'react'
import { Countdown, TimeOfDay } from '../../parts/instant.tsx'

export function OpFacts({ op }: { readonly op: OpView }) {
  const { url, service, state, attempts, result, statusCode, error, startedAt, endedAt, durationMs, nextAt } =
    op
  return (
    <dl className="facts">
      <Fact name="URL">{url === undefined ? undefined : <code>{url}</code>}</Fact>
      <Fact name="service">{service}</Fact>
      <Fact name="state">{state}</Fact>
      <Fact name="attempts">{attempts}</Fact>
      <Fact name="last answer">
        {error ?? (statusCode === undefined ? result : `${statusCode}, ${result ?? ''}`)}
      </Fact>
      <Fact name="took">{durationMs === undefined ? undefined : formatDuration(durationMs)}</Fact>
      <Fact name="first sent">{startedAt === undefined ? undefined : <TimeOfDay at={startedAt} />}</Fact>
      <Fact name="answered">{endedAt === undefined ? undefined : <TimeOfDay at={endedAt} />}</Fact>
      <Fact name="next attempt">{nextAt === undefined ? undefined : <Countdown at={nextAt} />}</Fact>
      <Fact name="by hand">
        {op.byHand === undefined ? undefined : (
          <>
            done by {op.byHand.doneBy === 'hand' ? 'a person elsewhere' : 'the service'},{' '}
            <TimeOfDay at={op.byHand.at} />
          </>
        )}
      </Fact>
      <Fact name="edited">{op.edited === true ? 'by an operator' : undefined}</Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === undefined) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
