import type { BranchRuleCode } from './branch-rules.ts'

/** Thrown by a check that found a rule broken: it goes no further, since what follows would only echo it. */
export class RuleBroken extends Error {
  readonly code: BranchRuleCode

  constructor(code: BranchRuleCode, found: string) {
    super(found)
    this.name = 'RuleBroken'
    this.code = code
  }
}

/** Thrown where neither yes nor no can be said: something that was given to the kit does not do its part. */
export class Undecided extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'Undecided'
  }
}

/** Nothing came back, or not in time. Says nothing about the rules: production would ask again. */
export class NoAnswer extends Undecided {
  /** A connection that broke is worth another call at once; a time that is over is not. */
  readonly isTimeOver: boolean

  constructor(because: string, isTimeOver: boolean) {
    super(because)
    this.name = 'NoAnswer'
    this.isTimeOver = isTimeOver
  }
}

/** Says why nothing came within the time for one call, or for everything. */
export class TimeOver extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'TimeOver'
  }
}
