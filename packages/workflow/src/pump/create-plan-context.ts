import { KEPT_VALUE_BYTES_MAX, type PlanCall } from '@counterstep/protocol'
import { copyHandedOn } from '../json-text.ts'
import { CONTINUE_SUGGESTED_BYTES, CONTINUE_SUGGESTED_STEPS, LOCAL_READS_MAX } from '../limits.ts'
import type { AskRequest } from '../rules/ask.ts'
import type { PlanRun } from '../rules/plan-run.ts'
import { type AskPromises, waitForEver } from './ask-promises.ts'
import { PlaceRandom } from './place-random.ts'
import type { CallAsk, PlanContext, PlanInfo, StepAsk } from './plan-context.ts'

type Pivot = Parameters<PlanContext['pivot']>[0]

export interface PlanContextParts {
  readonly call: PlanCall
  readonly version: number
  readonly run: PlanRun
  readonly promises: AskPromises
}

/** Makes the ctx of one plan call. */
export function createPlanContext({ call, version, run, promises }: PlanContextParts): PlanContext {
  const { gid, workflow, generation } = call
  const random = new PlaceRandom(`${generation} ${gid}`)
  let readsLeft = LOCAL_READS_MAX

  // A replay runs neither the code of ctx.run nor what writes a call, so these draw from a sequence of their own.
  const ask = ({ write, ...request }: AskRequest, code?: () => unknown): Promise<unknown> => {
    if (promises.isClosed) return waitForEver()
    const asked = run.ask({
      ...request,
      ...(write === undefined ? {} : { write: (id) => random.within(id, () => write(id)) }),
    })
    return promises.add(asked, code && ((id) => random.withinAsync(id, code)))
  }

  /** Counts what never waits, and so could be repeated without an end. */
  const read = <Value>(draw: () => Value): Value => {
    readsLeft -= 1
    if (readsLeft >= 0 || promises.isClosed) return draw()
    throw run.breakRule(
      `the function has read ctx.now, random, uuid or patched over ${LOCAL_READS_MAX} times in one plan: only ctx.sleep lets time pass`,
    )
  }

  const askWait = (is: 'timer' | 'signal', id: string, name: string, wait: object): Promise<unknown> =>
    ask({ is, id, name, hasUndo: false, write: () => ({ wait }) })

  const create = (role: 'retriable' | undefined): PlanContext => ({
    get info(): PlanInfo {
      const { steps, bytes } = run.delivered
      const continueSuggested = steps >= CONTINUE_SUGGESTED_STEPS || bytes >= CONTINUE_SUGGESTED_BYTES
      return { gid, workflow, version, generation, continueSuggested }
    },
    step: (step) => ask(toStepRequest(step, role)),
    call: (id, each) => ask(toCallRequest(id, each, role)),
    run: (id, code) => ask({ is: 'run', id, name: id, hasUndo: false }, code),
    sleep: (id, ms) => askWait('timer', id, id, { ms }) as Promise<void>,
    signal: (id, name, options) =>
      askWait('signal', id, name, { signal: name, ...options, onTimeout: 'continue' }),
    pivot: <Context = PlanContext>(pivot: Pivot, toContext?: (ctx: PlanContext) => Context) => {
      const request = 'url' in pivot ? toCallRequest(pivot.id, pivot, 'pivot') : toStepRequest(pivot, 'pivot')
      const convert = toContext ?? ((own: PlanContext) => own as Context)
      return promises.derive(ask(request), (value) => ({ value, ctx: convert(create('retriable')) }))
    },
    all: (members) => promises.addAll(members) as Promise<readonly unknown[]>,
    race: (members) => promises.addRace(members),
    now: () => read(() => run.now),
    random: () => read(() => random.drawFraction()),
    uuid: () => read(() => random.drawUuid()),
    patched: (id) => !promises.isClosed && read(() => run.askPatched(id)),
    continueWith: (input, options) => {
      if (promises.isClosed) return waitForEver()
      const fault = run.hasNoReturn
        ? 'stands behind the pivot, where a workflow ends'
        : run.hasUndo && options?.keep !== true
          ? 'keeps what could have been undone for good: say so with { keep: true }'
          : undefined
      if (fault !== undefined) {
        run.breakRule(`ctx.continueWith ${fault}`)
        return waitForEver()
      }
      const copy = copyHandedOn(input, KEPT_VALUE_BYTES_MAX)
      if ('fault' in copy) run.breakRule(`the input of ctx.continueWith ${copy.fault}`)
      else run.end({ continue: copy.value ?? null })
      return waitForEver()
    },
  })
  return create(undefined)
}

function toStepRequest({ name, hasUndo, input }: StepAsk, role: AskRequest['role']): AskRequest {
  const undo = hasUndo && role === undefined
  return {
    is: 'step',
    id: name,
    name,
    hasUndo: undo,
    write: () => input,
    ...(role === undefined ? {} : { role }),
  }
}

function toCallRequest(id: string, { url, hasUndo, write }: CallAsk, role: AskRequest['role']): AskRequest {
  return { is: 'call', id, name: url, hasUndo, write, ...(role === undefined ? {} : { role }) }
}
