import type { AlertBody, AlertFacts, AlertFormat } from '@counterstep/protocol'
import { describeAlert } from './describe-alert.ts'
import { linkToAlert } from './link-to-alert.ts'
import { toSlackMessage } from './slack-message.ts'

/** Writes the body of a webhook. The same facts always make the same text. */
export function writeAlert(format: AlertFormat, facts: AlertFacts, consoleUrl: string): string {
  const body: AlertBody = { ...facts, ...describeAlert(facts), link: linkToAlert(consoleUrl, facts) }
  return JSON.stringify(format === 'json' ? pickFields(body) : toSlackMessage(body))
}

/** The order of the fields is fixed, and nothing else that a node knows gets into the body. */
function pickFields(body: AlertBody): AlertBody {
  const { rule, state, problem, count, before, total, since, names, sampleGids, headline, advice, link } =
    body
  return {
    ...{ rule, state, problem, count },
    ...(before === undefined ? {} : { before }),
    ...(total === undefined ? {} : { total }),
    ...{ since, names, sampleGids, headline, advice, link },
  }
}
