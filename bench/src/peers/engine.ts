import type { LoadJob, TimedLength } from '../load/load-job.ts'
import type { Worker } from '../rounds.ts'
import type { ScenarioContext } from '../scenario.ts'

/** A system that calls two branches for a request and keeps what it did, or a program that does the same in less. */
export interface EngineKind {
  /** A row and the option `--only` have this name. */
  readonly name: string
  /** A table for readers has this name. */
  readonly title: string
  /** It is another system, which is skipped where it cannot be had. */
  readonly isPeer: boolean
  /** Says in what it does more or less than the others. */
  readonly note: string
  /** Throws an Error with the reason if it cannot be had. */
  open(context: ScenarioContext, branchUrl: string): Promise<Engine>
}

export interface Engine {
  /** The processes that are asked. */
  readonly processes: readonly Worker[]
  /** The process of its database; none where it stores nothing, or in a file of its own. */
  readonly database: readonly Worker[]
  /** Its versions and the settings that decide what is durable, by its own word and by that of its database. */
  readonly facts: string
  toJob(load: EngineLoad): LoadJob
  /** Throws unless what it stores is what so many answers leave. Returns the counts. */
  audit(asked: Asked): Promise<Readonly<Record<string, number>>>
}

export interface EngineLoad {
  readonly connections: number
  readonly length: TimedLength
  /** The beginning of all gids of the load. */
  readonly unique: string
}

/** Everything that an engine has been asked for. */
export interface Asked {
  /** All of them. */
  readonly answers: number
  /** Some of their gids. */
  readonly gids: readonly string[]
}

/** Words settings for a sentence. */
export function toWords(settings: Readonly<Record<string, unknown>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}
