/**
 * The code of a workflow was refused, as a server tells an operator: it breaks a rule of workflows, or is other code than
 * was recorded. `code` is that of the refusal, or, in a test, `WORKFLOW_NOT_REPEATABLE` if it uses time or chance that is not
 * of `ctx`. A handler gives it to the log of its service.
 *
 * @example
 * ```ts
 * await expect(runWorkflow(order, input)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_REPEATABLE' })
 * ```
 */
export class WorkflowRefusedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.name = 'WorkflowRefusedError'
    this.code = code
  }
}
