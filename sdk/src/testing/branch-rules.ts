/**
 * The rules that a branch has to keep, each under its stable code.
 *
 * @example
 * ```ts
 * for (const [code, rule] of Object.entries(BRANCH_RULES)) console.log(`${code}: ${rule}`)
 * ```
 */
export const BRANCH_RULES = {
  ACTION_NOT_DONE: 'An action that the business allows takes effect and answers 200.',
  COMPENSATION_NOT_DONE:
    'A compensation undoes its action and answers 200. It has no way to fail: it is asked again until it does.',
  SUCCESS_NOT_200:
    'Success is status 200 and no other. 201, 202 and 204 are unknown outcomes, asked again for ever.',
  GIDS_MIXED:
    'Each gid is a transaction of its own, also where two differ only in a capital letter: one never stands for the other.',
  BRANCHES_MIXED:
    'Two branches of one gid have nothing to do with each other: what is remembered is remembered by gid and branch_id.',
  DUPLICATE_RAN_TWICE:
    'A call that comes again has no second effect. Production repeats each call whose answer it missed.',
  DUPLICATE_REFUSED:
    'A call that succeeded answers 200 whenever it comes again, whatever has happened since: look for the duplicate before you ask the business.',
  ANSWER_NOT_REPEATED:
    'A call that comes again gets the answer of the first time, byte for byte: store it with the effect.',
  CONCURRENT_DUPLICATES_RAN_TWICE:
    'Of one call that comes several times at once, one has the effect: insert the barrier row first, do not look for it first.',
  COMPENSATION_WITHOUT_ACTION:
    'A compensation whose action never ran answers 200 and does nothing: the action may still be under way, or was refused.',
  ACTION_RAN_AFTER_COMPENSATION:
    'An action that comes after its compensation never runs: nobody would ever undo it. The compensation has to leave a mark that stops it.',
  LATE_ACTION_NOT_REFUSED:
    'An action that comes after its compensation is answered 409, so that a transaction that forgot its turn turns round.',
  ACTION_RACED_COMPENSATION:
    'An action and its compensation at the same time come to the one or the other order: done and undone, or never done.',
  FAILURE_NOT_409:
    'Where the business says no, the answer is 409 and no other: anything else is asked again for ever.',
  FAILURE_LEFT_EFFECT: 'Where the business says no, nothing of the effect stays behind.',
  REFUSAL_NOT_KEPT:
    'An action that nothing undoes (counterstep-undo: none) and that was refused never runs later: a copy of its call is refused, too.',
  BARRIER_APART_FROM_EFFECT:
    'What remembers a call commits in one database transaction with its effect, or not at all: a refused or broken call that is remembered is lost.',
  ERROR_SWALLOWED:
    'An answer of 200 means that the effect is there. An internal error is answered 500, and asked again.',
  ERROR_ANSWERED_AS_FAILURE:
    'Only the business says 409. A database that is down is answered 500: it says nothing about the business.',
  PAYLOAD_REFUSED:
    'A payload is taken in every size that clients send, and if it is any JSON: what a body parser refuses is asked for ever.',
  GARBAGE_ANSWERED:
    'A request that names no branch call is neither success nor failure: answer 400, and do nothing.',
} as const satisfies Record<string, string>

/**
 * This is a code from {@link BRANCH_RULES}. Codes are stable, texts are not.
 *
 * @example
 * ```ts
 * const tolerated: BranchRuleCode[] = ['ANSWER_NOT_REPEATED']
 * ```
 */
export type BranchRuleCode = keyof typeof BRANCH_RULES
