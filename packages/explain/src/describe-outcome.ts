import type { Op } from '@counterstep/protocol'

const WORDS: Readonly<Record<string, string>> = {
  refused: 'refuses connections',
  unreachable: 'cannot be reached',
  dns: 'has a name that cannot be resolved',
  'connect-timeout': 'does not accept connections in time',
  timeout: 'does not answer in time',
  reset: 'hangs up before it has answered',
  'bad-response': 'answers something that is not HTTP',
  'too-large': 'answers more than is read',
  tls: 'has no secure connection to offer that this server trusts',
  'denied-target': 'may not be called by the rules of this server',
  'denied-address': 'may not be called by the rules of this server',
  busy: 'is called more than its bounds allow, so calls wait',
  unread: 'answers in a form that is not read whole',
  resources: 'cannot be called, because this server lacks file handles or memory',
  'bad-url': 'has a URL that cannot be called',
  'bad-request': 'has a request that cannot be sent',
  closed: 'was not called to the end, because this server was stopping',
  'not-sent': 'was not called, because this server was stopping or another decision came first',
  'no-query-back': 'cannot be asked, because the message has no query-back',
  'json-rpc-error': 'answers with an error of JSON-RPC that says neither failed nor ongoing',
  'json-rpc': 'has to be called by JSON-RPC, and its payload cannot be sent so',
  'bad-plan': 'answers no plan that can be carried out',
  'large-plan': 'answers large plans faster than this server reads them, so they take turns',
  'journal-full': 'answers a plan for which the journal has no room',
  WORKFLOW_CHANGED:
    'refuses with WORKFLOW_CHANGED, because its code asks for something else than is recorded',
  WORKFLOW_UNKNOWN: 'refuses with WORKFLOW_UNKNOWN, because it serves no workflow of this name',
  WORKFLOW_VERSION_UNKNOWN:
    'refuses with WORKFLOW_VERSION_UNKNOWN, because it does not serve the version that this one began with',
  WORKFLOW_RULE_BROKEN: 'refuses with WORKFLOW_RULE_BROKEN, because its code breaks a rule of workflows',
  SLOT_TAKEN: 'refuses with SLOT_TAKEN, because its barrier has another step in the slot of a local step',
  other: 'could not be called',
}

/**
 * Says what a service does, from a status code or an error word: it completes a sentence that begins with its name. To a plan
 * call 409 is no refusal.
 */
export function describeOutcome(outcome: string, op?: Op): string {
  if (op === 'plan' && outcome === '409') return 'answers 409'
  if (outcome === '409') return 'answers 409, it refuses'
  if (outcome === '425') return 'answers 425, not yet'
  if (/^\d{3}$/.test(outcome)) return `answers ${outcome}`
  const code = /^grpc-(\d+)$/.exec(outcome)?.[1]
  if (code !== undefined) return `answers the code ${code} of gRPC`
  return WORDS[outcome] ?? `fails with ${outcome}`
}

/** Says what a service does when it is asked for one call, which `name` names. */
export function describeNamedOutcome(outcome: string, name: string): string {
  return outcome === '409' ? `answers 409: it refuses ${name}` : `${describeOutcome(outcome)} to ${name}`
}
