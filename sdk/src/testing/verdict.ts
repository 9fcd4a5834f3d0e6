import type { BranchRuleCode } from './branch-rules.ts'

/**
 * A check throws this error when it finds a broken rule. The check then ends, because its further steps would only find
 * the same fault again.
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
 * A check throws this error when it can say neither yes nor no, because a function that was given to the kit does not
 * do its part.
 */
export class Undecided extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'Undecided'
  }
}

/** No answer came, or none in time. It says nothing about the rules, because production would ask again. */
export class NoAnswer extends Undecided {
  /** After a broken connection another call is made at once. After a time limit none is made. */
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
