import type { BranchRuleCode } from './branch-rules.ts'

/**
 * A check throws it when it finds a rule broken. It goes no further, because what follows would only repeat the
 * fault.
 */
export class RuleBroken extends Error {
  readonly code: BranchRuleCode

  constructor(code: BranchRuleCode, found: string) {
    super(found)
    this.name = 'RuleBroken'
    this.code = code
  }
}

/**
 * A check throws it when it can say neither yes nor no, because something that was given to the kit does not do its
 * part.
 */
export class Undecided extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'Undecided'
  }
}

/** No answer came, or none in time. It says nothing about the rules, because production would ask again. */
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
