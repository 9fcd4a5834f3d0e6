import { type AlertFacts, type AlertRule, WITHOUT_NAME } from '@counterstep/protocol'
import { describeProblem } from '../describe-problem.ts'

interface Sentences {
  readonly headline: string
  readonly advice: string
}

/** Says in sentences what an alert is about, and what to do. */
export function describeAlert(facts: AlertFacts): Sentences {
  switch (facts.rule) {
    case 'test':
      return {
        headline: 'This is a test. Alerts of Counterstep come here.',
        advice: 'There is nothing to do.',
      }
    case 'digest':
      return {
        headline: `${count(facts, 'further alert was', 'further alerts were')} held back in the last hour, since there were so many.`,
        advice: 'Look at the problems in the console.',
      }
    default:
      return facts.state === 'over' ? describeEnd(facts, facts.rule) : describeOpen(facts, facts.rule)
  }
}

function describeOpen(facts: AlertFacts, rule: AlertRule): Sentences {
  const { problem } = facts
  switch (rule) {
    case 'attention': {
      const { headline, advice } = describeProblem(problem)
      return {
        headline: `${count(facts, 'transaction needs', 'transactions need')} a person${growth(facts)}. ${headline}`,
        advice,
      }
    }
    case 'failed':
      return {
        headline: `${share(facts)} of ${nameGroup(facts)} failed in the last 5 minutes${growth(facts)}: ${facts.count} of ${facts.total ?? facts.count}.`,
        advice: 'All of them were undone. Look at why their branches refused.',
      }
    case 'stuck':
      return problem === 'overdue'
        ? {
            headline:
              'Transactions have been due for over a minute, and no server has taken them up for 5 minutes.',
            advice: 'Look whether the servers run, and whether they have room for more.',
          }
        : {
            headline: `${count(facts, 'transaction has', 'transactions have')} been unfinished for over an hour${growth(facts)}.`,
            advice: 'Look at what each of them waits for.',
          }
    case 'paused':
      return {
        headline: `${count(facts, 'transaction has', 'transactions have')} been paused for over a day${growth(facts)}.`,
        advice: 'Resume what is mended. Stop what never will be.',
      }
    case 'store':
      return describeStoreEvent(problem)
    case 'bulk':
      return {
        headline: `The bulk job ${problem} needs a person: it has paused by itself, or ended with refusals.`,
        advice: 'Look at who refused and why, then resume the job or cancel it.',
      }
  }
}

function describeEnd(facts: AlertFacts, rule: AlertRule): Sentences {
  const { problem } = facts
  const advice = 'There is nothing to do.'
  switch (rule) {
    case 'attention':
      return {
        headline: `Over: no transaction needs a person for this any more. It was: ${describeProblem(problem).headline}`,
        advice,
      }
    case 'failed':
      return { headline: `Over: ${nameGroup(facts)} fail no more often than usual.`, advice }
    case 'stuck':
      return {
        headline:
          problem === 'overdue'
            ? 'Over: what is due is taken up again.'
            : 'Over: nothing has been unfinished for over an hour any more.',
        advice,
      }
    case 'paused':
      return { headline: 'Over: nothing has been paused for over a day any more.', advice }
    // An event that happens once does not end, so nothing is told of it.
    case 'store':
    case 'bulk':
      return { headline: `Over: ${problem}.`, advice }
  }
}

function describeStoreEvent(event: string): Sentences {
  switch (event) {
    case 'store-class-lowered':
      return {
        headline: 'The store now keeps less than it was started with: what it acknowledges may be lost.',
        advice:
          'Look at who changed the settings of the database, and restart the servers once they are right.',
      }
    case 'store-tail-lost':
      return {
        headline: 'The store has lost the last of what it had acknowledged.',
        advice: 'Compare what your services have done with what the console shows.',
      }
    case 'store-does-not-answer':
      return {
        headline:
          'The store has not answered one of the servers for over a minute, so nothing goes on there.',
        advice: 'Look at the database, and at the network to it.',
      }
    default:
      return { headline: `The store reports ${event}.`, advice: 'Look at the log of the servers.' }
  }
}

function count({ count: number }: AlertFacts, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}

function nameGroup({ problem }: AlertFacts): string {
  return problem === WITHOUT_NAME ? 'the transactions without a name' : `the transactions “${problem}”`
}

function growth({ before }: AlertFacts): string {
  return before === undefined ? '' : ` (when it was told last: ${before})`
}

function share({ count: part, total = part }: AlertFacts): string {
  return `${Math.round((100 * part) / Math.max(1, total))} %`
}
