/** The code of a workflow was refused, as a server would tell an operator: it breaks a rule of workflows. */
export class WorkflowRefusedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.name = 'WorkflowRefusedError'
    this.code = code
  }
}
