/** A registry that has no such endpoint, or none that answers, has said nothing about the packages. */
const NOT_ASKED =
  /^npm (?:error|warn) .*(?:audit endpoint|ENOAUDIT|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E404|E405|E501|supported registry|no signing keys)/im

/**
 * Tells how a run of npm's audit ended: `clean`, `failed`, or `not-asked`, which is no success and no failure.
 * @param {number | null} status
 * @param {string} output
 */
export function judgeAudit(status, output) {
  if (status === 0 && !NOT_ASKED.test(output))
    return { outcome: 'clean', sentence: 'nothing is known against what is locked' }
  if (status === null || NOT_ASKED.test(output)) {
    return {
      outcome: 'not-asked',
      sentence:
        'NOT CHECKED: this registry has no audit endpoint, or did not answer. Run it against one that has',
    }
  }
  return { outcome: 'failed', sentence: 'FAILED: see above' }
}
