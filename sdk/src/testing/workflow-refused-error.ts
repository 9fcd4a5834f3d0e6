/**
 * The code of a workflow was refused, as a server would tell an operator: it breaks a rule of workflows. `code` is that of
 * the refusal, or `WORKFLOW_NOT_REPEATABLE` if it uses time or chance that is not of `ctx`.
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
