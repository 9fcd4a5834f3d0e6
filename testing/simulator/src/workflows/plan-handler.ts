/**
 * The process that serves plan calls. It runs local steps one after the other, each behind the barrier, and may die between two
 * commits, and between the last commit and its answer. A call goes on behind its time limit, and beside other attempts.
 */
import type { BranchAnswer } from '@counterstep/core'
import type { Gid, PlanCall } from '@counterstep/protocol'
import { mayRunInline } from '@counterstep/workflow'
import { BROKEN, FAILURE, SUCCESS } from '../branches/branch-answers.ts'
import { EVENT } from '../world/event-code.ts'
import type { World } from '../world/world.ts'
import type { Program } from './program.ts'
import type { Services } from './services.ts'
import { type InlineState, type RanEntry, type WalkRules, walkProgram } from './walk-program.ts'
import type { WorkflowAudit } from './workflow-audit.ts'

/** Wrong handlers, each of which breaks one rule. */
export interface HandlerRules extends WalkRules {
  /** A step whose slot has the row of another step is refused. */
  readonly checksName: boolean
}

export const RIGHT_HANDLER: HandlerRules = {
  mayRunInline,
  tellsSeen: true,
  slots: 'behind',
  checksName: true,
}

interface PlanWork {
  readonly gid: Gid
  readonly program: Program
  readonly call: PlanCall
  readonly state: InlineState
  readonly answered: (answer: BranchAnswer) => void
}

export class PlanHandler {
  readonly #world: World
  readonly #audit: WorkflowAudit
  readonly #services: Services
  readonly #programs: ReadonlyMap<string, Program>
  readonly #rules: HandlerRules
  /** Says for some workflows whether the new version of the code serves a plan call. The others have the old one. */
  readonly #isNew = new Map<string, () => boolean>()
  incarnation = 0
  readonly pausedUntil = 0
  #isUp = true

  constructor(
    world: World,
    audit: WorkflowAudit,
    services: Services,
    programs: ReadonlyMap<string, Program>,
    rules: HandlerRules,
  ) {
    this.#world = world
    this.#audit = audit
    this.#services = services
    this.#programs = programs
    this.#rules = rules
  }

  deploy(gid: string, isNew: () => boolean): void {
    this.#isNew.set(gid, isNew)
  }

  /** Everything that runs in it ends where it is. */
  kill(downMs: number): void {
    this.incarnation++
    this.#isUp = false
    this.#world.after(downMs, EVENT.nemesis, () => {
      this.#isUp = true
    })
  }

  /** A gateway answers 409 now and then, and a page of HTML. */
  #refuse(gid: Gid): BranchAnswer | undefined {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    if (random.chance(faults.flaky)) return random.chance(0.5) ? BROKEN : FAILURE
    return random.chance(faults.ongoing) ? { ...SUCCESS, body: '<html></html>' } : undefined
  }

  plan(gid: Gid, body: string, answered: (answer: BranchAnswer) => void): void {
    const random = this.#world.getRandom(gid)
    const refusal = this.#isUp ? this.#refuse(gid) : BROKEN
    const program = this.#programs.get(gid)
    if (program === undefined || refusal !== undefined) {
      answered(refusal ?? BROKEN)
      return
    }
    const call = JSON.parse(body) as PlanCall
    const isNew = this.#isNew.get(gid)?.() ?? false
    const most = call.grant.count > 0 && random.chance(0.5) ? random.between(1, 3) : 100
    this.#goOn({ gid, program, call, state: { ran: [], isNew, most }, answered })
  }

  #goOn(work: PlanWork): void {
    const { gid, program, call, state, answered } = work
    const walked = walkProgram(program, call, state, this.#rules)
    const random = this.#world.getRandom(gid)
    const take = (ms: number, then: () => void) => this.#world.after(ms, EVENT.callCommit, then, this)
    if (walked.type === 'answer') {
      const answer = () => {
        const log = this.#audit.log(gid)
        if (walked.fails) log.hasCodeFailed = true
        if (walked.continues !== undefined) log.generations.noteContinue(call, state.ran, walked.continues)
        answered({ ...SUCCESS, body: walked.body })
      }
      // Without anything that ran there is nothing between the last commit and the answer.
      if (state.ran.length === 0) answer()
      else take(random.between(0, 20), answer)
      return
    }
    const { entry, input, isSure } = walked
    const isSlow = random.chance(0.1)
    take(random.between(1, 20) + (isSlow ? random.between(0, 400) : 0), () => {
      if (entry.is === 'run') this.#goOn(withEntry(work, { ...entry, value: random.between(1, 1_000) }))
      else this.#runStep(work, entry, JSON.stringify(input), isSure)
    })
  }

  #runStep(work: PlanWork, entry: RanEntry, input: string, isSure: boolean): void {
    const { gid, call, answered } = work
    const { id, name, slot = '' } = entry
    this.#audit.checkWithin(gid, call, slot, id, input)
    const { checksName } = this.#rules
    const local = { step: { id, name, input }, checksName }
    const outcome = this.#services.commit(gid, slot, 'action', isSure, local)
    if (outcome.type === 'refused') {
      answered({ ...SUCCESS, body: writeRefusal(call, outcome.code) })
      return
    }
    const { result, body } = outcome.answer
    if (result === 'success') this.#services.counts.ranWithin++
    if (result === 'failure')
      this.#goOn(withEntry(work, { ...entry, failed: { code: 'NO', message: 'not today' } }))
    else if (result === 'success')
      this.#goOn(withEntry(work, { ...entry, value: JSON.parse(body ?? 'null') }))
    else answered(outcome.answer)
  }
}

function withEntry(work: PlanWork, entry: RanEntry): PlanWork {
  return { ...work, state: { ...work.state, ran: [...work.state.ran, entry] } }
}

function writeRefusal({ gid, generation, plan }: PlanCall, code: string): string {
  const refused = { code, message: 'the slot has another row' }
  const then = Object.fromEntries([['then', { refused }]])
  return JSON.stringify({ v: 1, gid, version: 1, generation, plan, ran: [], next: [], ...then })
}
