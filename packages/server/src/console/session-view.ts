import { type Caller, type Gate, SCOPES, toActor } from '@counterstep/access'
import type { SessionView } from '@counterstep/protocol'

/** Describes the caller of a request that has passed the gate. */
export function describeCaller(gate: Pick<Gate, 'hasKeys' | 'identify'>, head: object): SessionView {
  const caller = gate.hasKeys ? gate.identify(head as Parameters<Gate['identify']>[0]) : undefined
  return caller === undefined ? { via: 'local', scopes: SCOPES } : toSessionView(caller)
}

export function toSessionView(caller: Caller): SessionView {
  const { key, session } = caller
  const ends = [key.expiresAt, session?.record.endsAt].filter((each) => typeof each === 'number')
  const { via, ...who } = toActor(caller)
  return {
    via: via === 'console' ? via : 'api',
    ...who,
    scopes: key.scopes,
    ...(ends.length === 0 ? {} : { until: Math.min(...ends) }),
  }
}
