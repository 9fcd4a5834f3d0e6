import { type AlertFacts, WITHOUT_NAME } from '@counterstep/protocol'

/** Slack takes no longer text. A link that would be longer leads to the page as a whole. */
const LINK_LENGTH_MAX = 2_900

/** Leads to the page of the console where an alert can be looked into. `consoleUrl` has no slash at its end. */
export function linkToAlert(consoleUrl: string, facts: AlertFacts): string {
  const link = `${consoleUrl}/console/#${findPage(facts)}`
  return link.length <= LINK_LENGTH_MAX ? link : `${consoleUrl}/console/#${LONG_PAGES[facts.rule] ?? '/'}`
}

const LONG_PAGES: Readonly<Partial<Record<AlertFacts['rule'], string>>> = {
  attention: '/problems',
  failed: '/list?status=failed',
  bulk: '/bulk',
}

function findPage({ rule, problem }: AlertFacts): string {
  switch (rule) {
    case 'attention':
      return `/problems?problem=${encode(problem)}`
    case 'failed':
      return problem === WITHOUT_NAME ? '/list?status=failed' : `/list?status=failed&name=${encode(problem)}`
    case 'stuck':
      return '/list?order=due'
    case 'paused':
      return '/list?paused=true&order=-due'
    case 'bulk':
      return `/bulk/${encode(problem)}`
    case 'digest':
      return '/problems'
    case 'store':
    case 'test':
      return '/'
  }
}

/** Half a sign, which a text has where it was cut, cannot be encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}
