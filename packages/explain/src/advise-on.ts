import type { Op } from '@counterstep/protocol'

const OTHER_CODE =
  'Deploy the code that it began with, or mend the new code. Or abort it, which asks no code.'
const NOT_SERVED =
  'Let the handler serve it, in the version that it began with. Or abort it, which asks no code.'

const ADVICE: Readonly<Record<string, string>> = {
  refused:
    'Nothing listens there, or the way is closed. Start the service, or correct the name or the network.',
  unreachable:
    'Nothing listens there, or the way is closed. Start the service, or correct the name or the network.',
  dns: 'The name does not resolve. Correct the name, or the name service.',
  'connect-timeout': 'The way is closed, or the service is overloaded. Look at the network and the service.',
  timeout: 'The service is reached and does not answer whole in time. Look at it: it may have done the work.',
  reset: 'The service hangs up. Look at the service, and at proxies between.',
  'bad-response': 'Look at the service, and at proxies between.',
  'too-large': 'Look at the service, and at proxies between.',
  tls: 'The certificate is the most frequent reason. Renew it, or give its authority to this server.',
  'denied-target':
    "This server's own rules do not let the call go there. Change them, restart, and retry what is parked.",
  'denied-address':
    "This server's own rules do not let the call go there. Change them, restart, and retry what is parked.",
  busy: 'A slow service holds all connections to it. Look at the service.',
  unread: 'Let the service answer plain and short.',
  resources: 'Give this server more file handles or memory.',
  'bad-url':
    'It cannot be sent as it was stored. Edit its URL, or stop the transaction and do by hand what is left.',
  'bad-request':
    'It cannot be sent as it was stored. Edit it, or stop the transaction and do by hand what is left.',
  closed: 'This server was stopping, or another decision came first. There is nothing to do.',
  'not-sent': 'This server was stopping, or another decision came first. There is nothing to do.',
  'no-query-back': 'It has no sender that could be asked. Submit or abort it.',
  'json-rpc':
    'The payload is no object, or names gid, trans_type, branch_id or op; or an older version stored it. Edit it, or stop the transaction and do by hand what is left.',
  'json-rpc-error': 'Look at the log of the service: the error within its answer is of its own making.',
  '401': 'The service most often does not accept the signature. Check the keys on both sides.',
  '403': 'The service most often does not accept the signature. Check the keys on both sides.',
  '404': 'The path is most often wrong. Edit the URL, or let the service serve it.',
  '409':
    'The service refuses what cannot be given up. Mend it there, then retry; or skip the call once it is done by hand.',
  '425':
    'The service asks to be called again later. This is no fault; look at the service if it takes too long.',
  'bad-plan':
    'Look at what answers at the URL of the handler: another service, or a proxy. Once it answers a plan, the workflow goes on.',
  'large-plan': 'It goes on by itself, later. Keep what a plan carries below 32 KiB.',
  'journal-full':
    'A plan or an answer is more than a workflow may record. For a call that has succeeded give its answer by a skip, or abort it, or stop it and do by hand what is left.',
  WORKFLOW_CHANGED: OTHER_CODE,
  WORKFLOW_RULE_BROKEN: OTHER_CODE,
  SLOT_TAKEN: OTHER_CODE,
  WORKFLOW_UNKNOWN: NOT_SERVED,
  WORKFLOW_VERSION_UNKNOWN: NOT_SERVED,
  'no-progress': 'It was taken up several times and got nowhere. Look at the log of the servers.',
  'value-unusable': 'A request could not be built from an earlier answer. Edit the request, or abort.',
  'by-hand':
    'A person did the action elsewhere, so a person must undo it there, and then skip the compensation.',
  'record-unreadable': 'A newer server wrote the record, or it is damaged. Repair the row, then retry.',
}

/** These outcomes have an advice of their own. */
export const ADVISED: readonly string[] = Object.keys(ADVICE)

/** Their advice is about a service. Of the handler of a workflow only 200 with a plan counts. */
const NO_PLAN: ReadonlySet<string> = new Set(['404', '409'])
const LATE_PLAN =
  'The function of the workflow, or what it does in a step or in ctx.run, takes longer than a plan call may. Look at the log of the handler, or give the workflow a longer timeoutMs.'

/** Advises what to do about an outcome of a call, as the guide for operators does. */
export function adviseOn(outcome: string, op?: Op): string {
  if (op === 'plan' && NO_PLAN.has(outcome))
    return 'Only 200 with a plan counts. Look at the log of the handler, and at proxies between.'
  if (op === 'plan' && outcome === 'timeout') return LATE_PLAN
  const known = ADVICE[outcome]
  if (known !== undefined) return known
  if (/^5\d\d$/.test(outcome)) return 'The service runs and fails: its own log has the reason.'
  if (/^grpc-\d+$/.test(outcome))
    return 'The service answers a code of gRPC that decides nothing. Look at its log, and at proxies between.'
  if (/^\d{3}$/.test(outcome))
    return 'The service gives no answer that counts. Look at its log, and at proxies between.'
  return "Look at the service's log."
}
