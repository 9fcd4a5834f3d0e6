/** In these cases the dialect differs from DTM v1.19 on purpose. The replay fails when one is no longer true. */
export interface Deviation {
  readonly reason: string
  /** These answers are expected instead, by position of the step. */
  readonly answers?: Readonly<Record<number, DeviantAnswer>>
  /**
   * The test waits for these statuses instead, by position of the step. With `skip` it does not wait, since the recorded
   * status does not come.
   */
  readonly untils?: Readonly<Record<number, string>>
  /** These calls are expected instead, each as `METHOD path`. It is `any` if their number depends on time. */
  readonly calls?: readonly string[] | 'any'
}

export interface DeviantAnswer {
  readonly status: number
  /** It has the placeholders of the recorded bodies. Without it only the status is compared, and another test has the rest. */
  readonly body?: string
  /** The body may or may not be as recorded, depending on time. The status is the same. */
  readonly byTime?: true
}

const SUCCESS = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const ONGOING = { status: 425, body: '{"dtm_result":"ONGOING","message":"ONGOING"}' }
const UNKNOWN = { status: 200, body: '{"branches":[],"transaction":null}' }
const NO_SAGA = answerError('a saga is not prepared: submit it')
const BAD_GID = answerUnprocessable(
  'gid must be 1–128 printable ASCII characters without space, quote, backslash or semicolon, and not . or ..',
)
const BAD_BRANCH_ID = answerUnprocessable(
  'branch_id must be 1–64 characters of A-Z a-z 0-9 . _ : -, and not . or ..',
)
/** These answers show more than the recorded ones, so only their status is compared. */
const SHOWN = { status: 200 }

const WAITS = 'waits for the end of what goes on, where DTM says 409 or 500 after one round of calls'
const GID = 'a gid that not every store can keep is refused, where DTM keeps, cuts or refuses it by its store'
const TYPE = 'an unknown trans_type is named, where DTM shows a nil pointer'
const PREPARED_SAGA = 'a saga cannot be prepared: no client does it'
const CUSTOM_DATA = 'custom_data that cannot run is refused before anything is stored'
const HEADERS = 'the headers of prepare are those of every later call, whoever causes it'
const BRANCH_ID = 'a branch id is 1–64 characters of a set that is safe everywhere'
const HIDDEN = 'the queries of URLs and the values of branch headers may be secrets: they are not shown'
const REDIRECT = 'redirects are not followed: the answer counts as unknown'

export const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  'workflow: resumed': {
    reason:
      'the options of a new workflow stand in the text of options alone, as those of any stored transaction',
    answers: { 0: SHOWN },
  },
  'abort: tcc prepared with wait_result, cancel ongoing': { reason: WAITS, answers: { 2: SUCCESS } },
  'abort: tcc prepared with wait_result, cancel fails': { reason: WAITS, answers: { 2: SUCCESS } },
  'abort: tcc prepared with wait_result, cancel broken': { reason: WAITS, answers: { 2: SUCCESS } },
  'abort: msg while prepared': { reason: 'the reason of an aborted message is shown', answers: { 2: SHOWN } },
  'abort: prepared saga': {
    reason: PREPARED_SAGA,
    answers: { 0: NO_SAGA, 1: answerError('no TransGlobal with gid: {{gid}} found'), 2: UNKNOWN },
  },
  'abort: prepared msg under the name of a tcc': {
    reason: 'what the transaction is counts, not what the request says it is',
    answers: {
      1: answerFailure(`trans type: 'msg' current status 'prepared', cannot abort. FAILURE`),
      2: SHOWN,
    },
  },
  'reset-cron-time: limit and timeout': {
    reason:
      'what was set due is looked at at once, and then waits for its own deadline again; DTM looks within seconds',
    answers: { 4: { ...SHOWN, byTime: true } },
  },
  'branch-calls: msg: in doubt without query_prepared': {
    reason: 'a message that nobody can be asked about waits for its sender, where DTM delivers it',
    untils: { 1: 'prepared' },
    answers: { 2: SHOWN },
    calls: [],
  },
  'all: limits': {
    reason: 'without a limit all rows up to a bound are one page, so there is no position behind it',
    answers: { 1: SHOWN, 2: SHOWN },
  },
  'branch-calls: saga: concurrent, one of two fails': {
    reason: 'the success of a step that came after the turn is shown',
    answers: { 2: SHOWN },
  },
  'branch-calls: saga: query of the URL is kept': {
    reason: 'a URL with a gid of its own is refused: a service could take it for the gid of the call',
    answers: {
      0: answerError(
        'a branch URL must not have a parameter that may be read as gid: each call adds its own',
      ),
    },
    calls: [],
  },
  'branch-calls: tcc: headers of prepare alone': { reason: HEADERS, calls: ['POST /confirm01'] },
  'branch-calls: tcc: headers of submit': { reason: HEADERS, calls: ['POST /confirm01'] },
  'decoding: prepare: the literal null': { reason: TYPE, answers: { 0: answerUnknownType('') } },
  'decoding: submit: the literal null': { reason: TYPE, answers: { 0: answerUnknownType('') } },
  'decoding: prepare: unknown trans_type': { reason: TYPE, answers: { 0: answerUnknownType('nothing') } },
  'decoding: prepare: trans_type in another letter case': {
    reason: TYPE,
    answers: { 0: answerUnknownType('TCC') },
  },
  'decoding: prepare: empty trans_type': { reason: TYPE, answers: { 0: answerUnknownType('') } },
  'decoding: submit: unknown trans_type': { reason: TYPE, answers: { 0: answerUnknownType('nothing') } },
  'decoding: submit: trans_type in another letter case': {
    reason: TYPE,
    answers: { 0: answerUnknownType('TCC') },
  },
  'decoding: submit: empty trans_type': { reason: TYPE, answers: { 0: answerUnknownType('') } },
  'decoding: a gid with blanks and signs reaches the branch': {
    reason: GID,
    answers: { 0: BAD_GID, 1: UNKNOWN },
    calls: [],
  },
  'decoding: empty gid': { reason: GID, answers: { 0: BAD_GID } },
  'decoding: missing gid': { reason: GID, answers: { 0: BAD_GID } },
  'decoding: gid of 129 characters': { reason: GID, answers: { 0: BAD_GID } },
  'decoding: fewer payloads than steps': {
    reason: 'says what is wrong, where DTM shows an index out of range',
    answers: { 0: answerError('2 steps have only 1 payloads') },
  },
  'force-stop: while a pass runs': {
    reason: 'after the stop no further branch is called',
    calls: ['POST /a1'],
  },
  'general: metrics after one saga': {
    reason: 'no series by branch id, and no versions of gin and grpc; the node has metrics of its own behind',
    answers: { 1: { status: 200 } },
  },
  'prepare: msg: twice while prepared': {
    reason: CUSTOM_DATA,
    answers: { 1: answerError("custom_data: invalid character 's' looking for beginning of value") },
  },
  'prepare: saga: once and its record': { reason: PREPARED_SAGA, answers: { 0: NO_SAGA, 1: UNKNOWN } },
  'prepare: saga: twice while prepared': {
    reason: PREPARED_SAGA,
    answers: { 0: NO_SAGA, 1: NO_SAGA, 2: UNKNOWN },
  },
  'prepare: of a succeeded saga': { reason: PREPARED_SAGA, answers: { 1: NO_SAGA } },
  'prepare: of a saga that is submitted': { reason: PREPARED_SAGA, answers: { 3: NO_SAGA } },
  'prepare: tcc: every option is in the record': {
    reason: 'a reason for a rollback is shown when there is a rollback',
    answers: { 1: SHOWN },
  },
  'register-branch: any text is a branch id': {
    reason: BRANCH_ID,
    answers: { 1: BAD_BRANCH_ID, 2: BAD_BRANCH_ID, 3: SHOWN },
    calls: [],
  },
  'register-branch: keys in another letter case': {
    reason: BRANCH_ID,
    answers: { 2: BAD_BRANCH_ID, 3: SHOWN },
  },
  'register-branch: the same twice': {
    reason: 'a repeated registration is the same one: its first answer may have been lost',
    answers: { 2: SUCCESS },
  },
  'submit: a saga under the trans_type of a prepared tcc': {
    reason: 'a gid that is taken by another type is not submitted',
    answers: { 1: answerError('{{gid}} is taken by a transaction with other content'), 2: SHOWN },
  },
  'submit: saga prepared first': {
    reason: PREPARED_SAGA,
    answers: { 0: NO_SAGA, 2: SHOWN },
  },
  'submit: saga prepared first, another body with the submit': {
    reason: PREPARED_SAGA,
    answers: { 0: NO_SAGA, 2: SHOWN },
    calls: [],
  },
  'submit: saga again while it runs': {
    reason: 'no finished branch is called again',
    calls: ['POST /a1', 'POST /a2', 'POST /a2', 'POST /a2'],
  },
  'submit: tcc again while a confirm is ongoing': {
    reason: 'submitted again it goes on until every confirm has succeeded',
    untils: { 6: 'submitted' },
    answers: { 7: SHOWN },
    calls: ['POST /confirm01', 'POST /confirm01'],
  },
  'topics: msg to three subscribers beside a plain step': {
    reason: HIDDEN,
    answers: { 3: SHOWN, 6: SHOWN },
  },
  'branch-calls: msg: headers and custom_data': { reason: HIDDEN, answers: { 1: SHOWN } },
  'query: options flattened': { reason: HIDDEN, answers: { 1: SHOWN } },
  'wait-result: msg: action FAILURE once': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: msg: action broken once': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: msg: action ongoing once': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: msg: concurrent, one broken once': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: msg: delay': { reason: WAITS, answers: { 0: SUCCESS, 1: SHOWN } },
  'wait-result: msg: unreadable custom_data': refuseUnreadable(),
  'wait-result: saga: 201': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: 204': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: 404': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: 425 beats a FAILURE text': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: a closed connection': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: ongoing beats FAILURE': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: ongoing by status': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: ongoing by text in a 200': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: saga: request_timeout': {
    reason: 'goes on after the request_timeout, when its caller gives up: so it is told before that',
    answers: { 0: ONGOING },
  },
  'wait-result: saga: unknown 500': { reason: WAITS, answers: { 0: SUCCESS } },
  'wait-result: tcc: confirm FAILURE once': { reason: WAITS, answers: { 3: SUCCESS } },
  'wait-result: tcc: confirm broken once': { reason: WAITS, answers: { 3: SUCCESS } },
  'wait-result: tcc: confirm ongoing once': { reason: WAITS, answers: { 3: SUCCESS } },
  'wait-result: saga: a URL that nobody serves': { reason: WAITS, answers: { 0: ONGOING, 1: SHOWN } },
  'wait-result: saga: timeout_to_fail': {
    reason: WAITS,
    answers: { 0: answerFailure('Timeout after 3 seconds FAILURE') },
  },
  'wait-result: saga: 302 to a path that answers 200': {
    reason: REDIRECT,
    calls: ['POST /a1', 'POST /a2', 'POST /a2'],
  },
  'wait-result: saga: 307 to a path that answers 200': {
    reason: REDIRECT,
    calls: ['POST /a1', 'POST /a2', 'POST /a2'],
  },
  'wait-result: saga: orders in a cycle': {
    reason: CUSTOM_DATA,
    answers: {
      0: answerError('custom_data: orders wait in a circle at step 0'),
      1: UNKNOWN,
      2: answerError('no TransGlobal with gid: {{gid}} found'),
    },
  },
  'wait-result: saga: orders that name a missing step': {
    reason: CUSTOM_DATA,
    answers: {
      0: answerError('custom_data: orders name step 7 of 2'),
      1: UNKNOWN,
      2: answerError('no TransGlobal with gid: {{gid}} found'),
    },
  },
  'wait-result: saga: retry_limit counts ongoing': {
    reason: 'who says that it goes on has not failed: it does not count',
    answers: { 0: ONGOING, 2: SHOWN },
    untils: { 1: 'skip' },
    calls: 'any',
  },
  'wait-result: saga: unreadable custom_data': refuseUnreadable(),
}

function answerError(message: string): DeviantAnswer {
  return { status: 500, body: JSON.stringify({ message }) }
}

function answerUnprocessable(message: string): DeviantAnswer {
  return { status: 422, body: JSON.stringify({ message }) }
}

function answerFailure(message: string): DeviantAnswer {
  return { status: 409, body: JSON.stringify({ dtm_result: 'FAILURE', message }) }
}

function answerUnknownType(type: string): DeviantAnswer {
  return answerError(`unknow trans type: ${type}`)
}

function refuseUnreadable(): Deviation {
  return {
    reason: CUSTOM_DATA,
    answers: {
      0: answerError("custom_data: invalid character 'o' in literal null (expecting 'u')"),
      1: UNKNOWN,
      2: answerError('no TransGlobal with gid: {{gid}} found'),
    },
  }
}
